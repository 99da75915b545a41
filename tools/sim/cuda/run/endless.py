"""The question that goes with a loop which does not end."""

import ast
import linecache
from types import FrameType

WHAT_ENDS = "What should end it? No thread outside it stores here; on a GPU one may."
OF_CAS = "What cas found is what its next try must expect. Is that taken over?"
EXPECTED = {"cas": 2, "compare_and_swap": 1}  # place among the arguments of what memory should hold


def question(frame: FrameType | None) -> str:
    """frame: of the kernel, at the loop's first line."""
    if frame is None:
        return WHAT_ENDS
    text = "".join(linecache.getlines(frame.f_code.co_filename))
    loops = (node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.While, ast.For)))
    around = [loop for loop in loops if loop.lineno == frame.f_lineno]
    return OF_CAS if any(_tries(node) for loop in around for node in ast.walk(loop)) else WHAT_ENDS


def _tries(node: ast.AST) -> bool:
    """Is it a cas that expects a variable? A constant stands for a lock that is free."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    place = EXPECTED.get(node.func.attr, len(node.args))
    return place < len(node.args) and isinstance(node.args[place], ast.Name)
