"""Runs a snippet and puts what came of it into one line of text, which is the same for CuPy and for its stand-in."""

import ast
import warnings

import numpy as np

BEGINNING = 40  # characters of an error's message that must be equal
LONGEST = 120  # that are kept


def outcome(code: str, cp) -> str:
    """The value of a snippet's last expression, or its error. cp: the module that it runs on."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _described(_run(code.replace("\\n", "\n"), {"cp": cp, "np": np}), cp)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST]}".strip()


def agree(one: str, other: str) -> bool:
    """Equal values, or errors of one type whose messages begin alike. A compiler's messages are its own, and the
    stand-in may say something where CuPy says nothing."""
    if one == other:
        return True
    (kind, _, message), (other_kind, _, other_message) = (each.partition(":") for each in (one, other))
    if kind != other_kind or not kind.endswith(("Error", "Exception")):
        return False
    silent = "" in (message.strip(), other_message.strip())
    return kind == "CompileException" or silent or message[:BEGINNING] == other_message[:BEGINNING]


def _run(code: str, names: dict):
    """None if the snippet ends with a statement."""
    *statements, last = ast.parse(code).body
    value = isinstance(last, ast.Expr)
    exec(compile(ast.Module(statements if value else [*statements, last], []), "<snippet>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<snippet>", "eval"), names) if value else None


def _described(value, cp) -> str:
    """float32[2, 3] [[...]] for an array of the device, "host" before one of NumPy, repr for the rest."""
    if isinstance(value, cp.ndarray):
        return _array(value.get())
    if isinstance(value, (np.ndarray, np.generic)):
        return f"host {_array(np.asarray(value))}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(_described(each, cp) for each in value)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return " ".join(repr(value).split())


def _array(values: np.ndarray) -> str:
    return f"{values.dtype}{list(values.shape)} {_numbers(values.tolist())}"


def _numbers(values) -> str:
    """Floating-point numbers to 6 digits: what differs behind them is no difference of rules."""
    if isinstance(values, list):
        return f"[{', '.join(map(_numbers, values))}]"
    if isinstance(values, complex):
        return f"{values.real:.6g}{values.imag:+.6g}j"
    return f"{values:.6g}" if isinstance(values, float) else repr(values)
