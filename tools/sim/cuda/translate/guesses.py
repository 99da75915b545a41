"""Plain reads of an element that only say what a compare-and-swap expects to find there.

old = out[0]                                    a guess: another thread may update the element meanwhile,
while x > old:                                  and then the swap does not take place
    seen = cuda.atomic.cas(out, 0, old, x)
"""

import ast


def guesses(tree: ast.FunctionDef) -> set[ast.AST]:
    """The reads, as nodes of the tree."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        swap = _swap(node)
        if swap:
            place, expected = swap
            found |= {each for each in _values(tree, expected) if _place(each) == place}
    return found


def _swap(node: ast.AST) -> tuple[tuple[str, str], ast.expr] | None:
    """Array and index of a compare-and-swap, and what it expects."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="atomic"), attr="cas"), args=[array, index, old, _]):
            return (ast.unparse(array), ast.dump(index)), old
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="atomic"), attr="compare_and_swap"), args=[array, old, _]
        ):
            return (ast.unparse(array), ast.dump(ast.Constant(0))), old
    return None


def _place(node: ast.expr) -> tuple[str, str] | None:
    return (ast.unparse(node.value), ast.dump(node.slice)) if isinstance(node, ast.Subscript) else None


def _values(tree: ast.FunctionDef, expected: ast.expr) -> list[ast.expr]:
    """What it is, and what is assigned to the variable that it is, also by way of other variables."""
    found, names, waiting = [expected], set(), [expected]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name) and each.id not in names:
            names.add(each.id)
            new = _assigned(tree, each.id)
            found += new
            waiting += new
    return found


def _assigned(tree: ast.FunctionDef, name: str) -> list[ast.expr]:
    assigns = [each for each in ast.walk(tree) if isinstance(each, ast.Assign)]
    return [each.value for each in assigns if name in {getattr(target, "id", "") for target in each.targets}]
