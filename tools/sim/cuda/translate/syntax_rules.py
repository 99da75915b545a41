"""Python that Numba does not compile for a GPU, and Python that it does compile and this simulator does not know.

Every rule was found by compiling kernels with numba-cuda 0.30; the tests compile them again.
"""

import ast
from collections.abc import Iterator

from tools.sim.cuda.translate.findings import Finding, nodes

LEAST, MOST = -(2**63), 2**64 - 1  # the integers that Numba knows

CATCH = ("Numba compiles no exception handlers for a GPU.", "Test for the bad case with if.")
GENERATOR = ("Numba compiles no generators for a GPU.", "Store each value in an array.")
LIST = (
    "Numba makes no lists on a GPU: nothing allocates memory there.",
    "cuda.local.array(shape, dtype) gives each thread an array of its own.",
)
MAPPING = (
    "Numba makes no dicts or sets on a GPU: nothing allocates memory there.",
    "Can an array stand for it, indexed by the key?",
)
WITH = ("Numba compiles no with statement for a GPU.", "")
IMPORT = ("Numba compiles no import in a kernel.", "Import at the top of the file.")
TEXT = ("Numba puts no texts together on a GPU.", 'print takes texts and numbers side by side: print("x is", x).')
STARRED = ("Numba compiles no starred assignment.", "Give every value a name.")
PRODUCT = ("Numba compiles no @ for a GPU.", "Write the loops: that is what the kernel is for.")
TOO_LARGE = ("Numba knows no integers of more than 64 bits.", "")
CAUSE = ("Numba compiles no raise ... from ... for a GPU.", "Leave out the cause.")
COMPUTED = ("Numba takes only constants into an error.", "Print what was computed before it.")
GLOBAL = ("Numba assigns no global variables.", "Store to an array that is passed to the kernel.")
KEYWORD_ONLY = ("Numba compiles no keyword-only parameters for a GPU.", "Leave out the * before them.")
KEYWORDS = ("Numba compiles no ** in a parameter list or a call.", "Name the arguments one by one.")

# kind of node: why, and what to write instead
REFUSED = {
    ast.Try: CATCH,
    ast.TryStar: CATCH,
    ast.With: WITH,
    ast.AsyncWith: WITH,
    ast.Import: IMPORT,
    ast.ImportFrom: IMPORT,
    ast.Yield: GENERATOR,
    ast.YieldFrom: GENERATOR,
    ast.Await: GENERATOR,
    ast.AsyncFor: GENERATOR,
    ast.GeneratorExp: GENERATOR,
    ast.ListComp: LIST,
    ast.DictComp: MAPPING,
    ast.SetComp: MAPPING,
    ast.Dict: MAPPING,
    ast.Set: MAPPING,
    ast.ClassDef: ("Numba compiles no class in a kernel.", "Keep the values in variables and arrays."),
    ast.Delete: ("Numba compiles no del for a GPU.", "Leave it out: a variable costs nothing."),
}

INNER = ("a function inside a kernel", "Put it outside, with @cuda.jit(device=True) above its def.")
SEARCH = ("in", "Compare one by one: x == 1 or x == 2.")
STARS = ("a starred argument", "Name the arguments one by one.")

# kind of node: what it is, and what to write instead
UNKNOWN = {
    ast.Lambda: INNER,
    ast.FunctionDef: INNER,
    ast.AsyncFunctionDef: INNER,
    ast.Match: ("match", "Write if and elif."),
    ast.NamedExpr: (":=", "Assign on a line of its own. Numba, too, compiles := in a few places only."),
    ast.Nonlocal: ("nonlocal", "Store to an array that is passed to the kernel."),
}


def findings(tree: ast.FunctionDef) -> Iterator[Finding]:
    """About the syntax of the function, whatever its names stand for."""
    if tree.args.kwonlyargs:
        yield Finding(tree, *KEYWORD_ONLY)
    if tree.args.kwarg:
        yield Finding(tree, *KEYWORDS)
    if tree.args.vararg:
        yield Finding(tree, *STARS, unknown=True)
    tuples = _become_tuples(tree)
    stored = {node.id for node in nodes(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in nodes(tree):
        if type(node) in REFUSED:
            yield Finding(node, *REFUSED[type(node)])
        elif isinstance(node, ast.List) and isinstance(node.ctx, ast.Load) and node not in tuples:
            yield Finding(node, *LIST)
        elif isinstance(node, ast.Global) and stored & set(node.names):
            yield Finding(node, *GLOBAL)
        elif why := _why(node):
            yield Finding(node, *why)
        elif what := _what(node):
            yield Finding(node, *what, unknown=True)


def _become_tuples(tree: ast.FunctionDef) -> set[ast.expr]:
    """Lists of which Python makes tuples: those that a loop goes through, and those that are searched."""
    return {node.iter for node in nodes(tree) if isinstance(node, ast.For)} | {
        each for node in nodes(tree) if isinstance(node, ast.Compare) for each in node.comparators
    }


def _why(node: ast.AST) -> tuple[str, str] | None:
    """Numba does not compile it."""
    match node:
        case ast.Starred(ctx=ast.Store()):
            return STARRED
        case ast.Constant(value=int(value)) if not LEAST <= value <= MOST:
            return TOO_LARGE
        case ast.JoinedStr(values=[_, _, *_]) | ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()):
            return TEXT
        case ast.Attribute(value=ast.Constant(value=str()), attr="format"):
            return TEXT
        case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
            return PRODUCT
        case ast.Call(keywords=keywords) if any(keyword.arg is None for keyword in keywords):
            return KEYWORDS
        case ast.Raise(cause=ast.expr()):
            return CAUSE
        case ast.Raise(exc=ast.Call(args=[told, *_])) | ast.Assert(msg=ast.expr() as told) if _is_computed(told):
            return COMPUTED
    return None


def _is_computed(node: ast.expr) -> bool:
    computed = ast.Subscript, ast.Attribute, ast.Call, ast.FormattedValue
    return any(isinstance(each, computed) for each in ast.walk(node))


def _what(node: ast.AST) -> tuple[str, str] | None:
    """A GPU may run it; the simulator does not know it."""
    match node:
        case ast.Call(args=arguments) if any(isinstance(each, ast.Starred) for each in arguments):
            return STARS
        case ast.Compare(ops=operators) if any(isinstance(each, (ast.In, ast.NotIn)) for each in operators):
            return SEARCH
    return UNKNOWN.get(type(node))
