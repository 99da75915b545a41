"""Uses, read from syntax: which names of a file a definition uses, and what a test file uses of its lesson.

Also what is used through something else of the same file. Where the syntax does not tell, it may be everything.
"""

import ast
from collections.abc import Iterable, Mapping
from functools import lru_cache

from tools.course.content.syntax import parsed

Definitions = dict[str, list[ast.stmt]]  # by the name at top level
Uses = Mapping[str, set[str]]  # by the name at top level, the names that its statements read

STATEMENTS = ""  # the name of what defines nothing and runs at import
SEES_ALL = {"globals", "vars", "eval", "exec"}  # whose use may mean any name
OF_ALL_TESTS = "pytestmark"


@lru_cache(maxsize=4)  # each variant of a unit asks the same
def of_lesson(tests: str, lesson: str) -> dict[str, set[str] | None]:
    """What each definition of a test file uses of the module `lesson`: names, or None: perhaps all.

    A test (a function test_..., a class Test...) also uses what every test does.
    """
    tree = ast.parse(tests)
    every, aliases = definitions(tree), _aliases(tree, lesson)
    names, of_each = uses(every), {name: _of_lesson(nodes, aliases) for name, nodes in every.items()}
    always = {STATEMENTS, OF_ALL_TESTS, *(name for name, nodes in every.items() if any(map(_for_all_tests, nodes)))}
    found: dict[str, set[str] | None] = {}
    for name in every:
        starts = {name, *always & every.keys()} if name.lower().startswith("test") else {name}
        within = set().union(*(closure(start, names) for start in starts))
        found[name] = _all_of(of_each[each] for each in within)
    return found


def through(lesson: str, names: set[str]) -> set[str]:
    """These names of a lesson, and those that they use in it, directly or not."""
    tree = parsed(lesson)
    every = uses(definitions(tree)) if tree else {}
    return set().union(names, *(closure(name, every) for name in names & every.keys()))


def definitions(tree: ast.Module) -> Definitions:
    """The statements of a module by the names that they define; those that define none under STATEMENTS."""
    found: Definitions = {}
    for node in tree.body:
        for name in _defined(node):
            found.setdefault(name, []).append(node)
    return found


def closure(start: str, every: Uses) -> set[str]:
    """The names among those of `every` that `start` uses, itself included, and those that these use."""
    reached, waiting = {start}, [start]
    while waiting:
        names = every[waiting.pop()]
        more = (set(every) if names & SEES_ALL else names & every.keys()) - reached
        reached |= more
        waiting += more
    return reached


def uses(every: Definitions) -> Uses:
    """The names that each of these definitions reads."""
    return {name: set().union(*map(names_read, nodes)) for name, nodes in every.items()}


def _defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets) if all(isinstance(target, ast.Name) for target in targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(alias.asname or alias.name).partition(".")[0] for alias in names]
        case ast.Expr(value=ast.Constant(value=str())):
            return ["__doc__"]
    return [STATEMENTS]


def names_read(node: ast.AST) -> set[str]:
    """The names that a statement reads, parameters included: of a test they are fixtures."""
    read = (child for child in ast.walk(node) if isinstance(child, ast.Name | ast.arg))
    return {child.id if isinstance(child, ast.Name) else child.arg for child in read}


def _for_all_tests(node: ast.stmt) -> bool:
    """Is it a fixture that every test has?"""
    decorators = getattr(node, "decorator_list", ())
    return any("autouse" in ast.unparse(decorator) for decorator in decorators)


def _aliases(tree: ast.Module, lesson: str) -> dict[str, bool]:
    """The names by which the tests know what they import of the course's weeks: is it the lesson's module?"""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("week"):
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}" == lesson
        elif isinstance(node, ast.Import):
            found |= {alias.asname or "week": False for alias in node.names if alias.name.startswith("week")}
    return found


def _of_lesson(nodes: list[ast.stmt], aliases: dict[str, bool]) -> set[str] | None:
    """The attributes of the lesson that the statements name; None if they hand it on, or what else weeks hold."""
    parts = [child for node in nodes for child in ast.walk(node)]
    attributes = [child for child in parts if isinstance(child, ast.Attribute)]
    of_lesson = [each for each in attributes if isinstance(each.value, ast.Name) and aliases.get(each.value.id)]
    named = [child for child in parts if isinstance(child, ast.Name) and child.id in aliases]
    return {each.attr for each in of_lesson} if len(of_lesson) == len(named) else None


def _all_of(parts: Iterable[set[str] | None]) -> set[str] | None:
    """The names of all parts; None if one of them may use any."""
    found: set[str] = set()
    for names in parts:
        if names is None:
            return None
        found |= names
    return found
