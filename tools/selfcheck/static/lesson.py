"""Rules for a lesson: its docstring, its gaps, and its agreement with the reference outside them."""

import ast
import copy
import re

from tools.course.content.catalogue import repaired
from tools.course.content.day_file import STEPS
from tools.course.content.gaps import gap_line, message
from tools.course.content.syntax import Definition, after_docstring, definitions, find_function, same
from tools.selfcheck.static.material import Material, Problem, Problems

MOST_LINES = 60
DOCSTRING_TASK = re.compile(r"^ +Task (\d+)\b", re.MULTILINE)


def docstring_has_the_five_steps(m: Material) -> Problems:
    lines = (ast.get_docstring(m.stub_tree) or "").splitlines()
    if [line for line in lines if line in STEPS] != list(STEPS):
        yield Problem(m.at(m.unit.lesson), f"the docstring needs the five steps, in order: {', '.join(STEPS)}")
    if len(lines) > MOST_LINES:
        yield Problem(m.at(m.unit.lesson), f"the docstring has {len(lines)} lines; at most {MOST_LINES}")


def module_has_a_name_of_its_own(m: Material) -> Problems:
    """In a traceback or a notebook nobody could tell two lessons of one name apart."""
    for other in sorted(m.root.glob(f"week*/**/{m.unit.lesson.name}")):
        if other != m.unit.lesson:
            yield Problem(m.at(m.unit.lesson), f"{m.at(other)} has the same name")


def markers_name_their_task(m: Material) -> Problems:
    for gap in m.gaps:
        where = m.at(m.unit.lesson, gap.line)
        function = find_function(m.stub_tree, gap.function)
        assert function is not None
        wanted = f"{m.unit.name} task {gap.task}: {gap.function.rpartition('.')[2]}"
        if gap.task == 0:
            yield Problem(where, f"{gap.function} stands above the first `# Task N`")
        elif gap.message is not None and gap.message != wanted:
            yield Problem(where, f"the marker says {gap.message!r}; it must say {wanted!r}")
        elif gap.message is None and not function.decorator_list:
            yield Problem(where, f"`pass` marks a gap only in a kernel; raise NotImplementedError({wanted!r})")


def a_marker_ends_its_function(m: Material) -> Problems:
    known = {gap.line for gap in m.gaps}
    for node in ast.walk(m.stub_tree):
        if isinstance(node, ast.Raise) and message(node) is not None and node.lineno not in known:
            yield Problem(m.at(m.unit.lesson, node.lineno), "NotImplementedError must be the last statement of a gap")


def task_numbers_agree(m: Material) -> Problems:
    """Comments, docstring, gaps and hints. A setup task has nothing to write: no comment, no gap, no hint."""
    lesson, kinds = m.at(m.unit.lesson), {task.number: task.kind for task in m.unit.tasks}
    if m.comments != list(range(1, len(m.comments) + 1)):
        yield Problem(lesson, f"the `# Task N` comments count {m.comments}; they must count 1, 2, 3, ...")
    described = [int(n) for n in DOCSTRING_TASK.findall(ast.get_docstring(m.stub_tree) or "")]
    if described != m.tasks:
        yield Problem(lesson, f"the docstring lists the tasks {described}; the lesson has {m.tasks}")
    for number in m.comments:
        if kinds[number] == "gap" and number not in {gap.task for gap in m.gaps}:
            yield Problem(lesson, f"task {number} has no gap")
    for number in sorted(set(m.comments) ^ m.unit.hints.keys()):
        what = "there are hints for task {}, which the lesson does not have"
        what = "task {} has no hints" if number in m.comments else what
        yield Problem(m.at(m.unit.folder / "day.toml"), what.format(number))


def reference_agrees_outside_the_gaps(m: Material) -> Problems:
    kept = {gap.function: gap.given for gap in m.gaps} | dict.fromkeys(repaired(m.unit, m.stub), 0)
    stub, reference = (_without_answers(tree, kept) for tree in (m.stub_tree, m.reference_tree))
    for mine, other in zip(stub, reference):
        if ast.dump(mine) != ast.dump(other):
            name = f" in {mine.name}" if isinstance(mine, (ast.FunctionDef, ast.ClassDef)) else ""
            what = f"differs from the reference (line {other.lineno}) outside the gaps{name}"
            yield Problem(m.at(m.unit.lesson, mine.lineno), what)
            return
    if len(stub) != len(reference):
        yield Problem(m.at(m.unit.lesson), "stub and reference do not end with the same statement")


def repairs_name_what_the_reference_mends(m: Material) -> Problems:
    """A learner is told to look at these alone; a function that the reference leaves as it is may be among them."""
    file, gaps = m.at(m.unit.folder / "day.toml"), {gap.function for gap in m.gaps}
    for task in m.unit.tasks:
        for name in task.repairs:
            if name not in task.functions:
                yield Problem(file, f"repairs: task {task.number} has no function {name}")
        for name in task.functions if task.repairs else ():
            mended = not same(definitions(m.stub)[name], definitions(m.reference).get(name))
            if mended and name not in {*task.repairs, *gaps}:
                yield Problem(file, f"repairs: the reference mends {name} of task {task.number} too")


def reference_fills_the_gaps(m: Material) -> Problems:
    for gap in m.gaps:
        function = find_function(m.reference_tree, gap.function)
        body = after_docstring(function) if function else []
        if function and (len(body) <= gap.given or gap_line(function, find_function(m.stub_tree, gap.function))):
            yield Problem(m.at(m.reference_path, function.lineno), f"{gap.function} is still a gap")


def reference_imports_what_the_stub_imports(m: Material) -> Problems:
    allowed = _imports(m.stub_tree) | {"math"}
    for name in sorted(_imports(m.reference_tree) - allowed):
        yield Problem(m.at(m.reference_path), f"imports {name}, which the stub does not")


RULES = [
    docstring_has_the_five_steps, module_has_a_name_of_its_own, markers_name_their_task,
    a_marker_ends_its_function, task_numbers_agree,
    reference_agrees_outside_the_gaps, repairs_name_what_the_reference_mends, reference_fills_the_gaps,
    reference_imports_what_the_stub_imports,
]  # fmt: skip


def _without_answers(tree: ast.Module, kept: dict[str, int]) -> list[ast.stmt]:
    """The statements at the top; each function of `kept` ends after its docstring and that many statements."""
    given = {find_function(tree, name): count for name, count in kept.items()}

    def cut(node: ast.stmt) -> ast.stmt:
        if isinstance(node, ast.FunctionDef) and node in given:
            documented = len(node.body) - len(after_docstring(node))
            return _with_body(node, node.body[: documented + given[node]])
        return _with_body(node, list(map(cut, node.body))) if isinstance(node, ast.ClassDef) else node

    return list(map(cut, tree.body))


def _with_body(node: Definition, body: list[ast.stmt]) -> Definition:
    node = copy.copy(node)  # the tree is shared
    node.body = body
    return node


def _imports(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names
