"""Words for faults of functions that threads call together, and of objects by which they wait; see faults.py."""

from tools.sim.cupy.raw import library

KINDS = {
    "whole_warp": "warp_mask",
    "in_flight": "race",
    "endless_phase": "divergent_barrier",
    "grid_missed": "divergent_barrier",
}
OF_WHOLE_WARPS = ("wmma::",)  # functions that take no mask: all lanes of a warp must call them together
TEXTS = {
    "whole_warp": (
        "{who} calls {text}, which all 32 lanes of a warp call together;\n{missing} did not come.",
        "Which condition, or which size of the block, keeps them from it?",
    ),
    "in_flight": (
        "{who} {verb} {element},\nto which {other} copies asynchronously since line {line}.",
        "Has the thread that copies waited for it, and do the others know that?",
    ),
    "endless_phase": (
        "{who} waits in {text} for a phase that nobody ends:\n{number} of {size} arrivals are missing.",
        "Whom does init() count, and does each of them arrive once in a phase?",
    ),
}


def misused(who: str, text: str) -> tuple[str, str]:
    """What happened and the question, of a fault that the runtime noted in words, with a bar between the two."""
    what, _, question = text.partition("|")
    return f"{who} {what}.", question


def of_fragment(refusal: str, note: library.Fault, array: str) -> tuple[str, str] | None:
    """Where the fragment of wmma begins that an access belongs to, and the question; None for any other access.

    Its lanes have no element of their own to be masked: what can be wrong is the address, the stride, or the array.
    """
    if not note.stride or refusal not in ("out_of_bounds", "uninitialised"):
        return None
    line, other = ("row", "column") if note.by_rows else ("column", "row")
    stride, first = note.stride // note.element, note.start // note.element
    begins = f"Its fragment begins at element {first}"
    if refusal == "uninitialised":
        asks = "Should it begin there, with that stride? If so, who stores to the element?"
    elif 0 <= note.start < note.array_size:
        asks = "Which of the two is wrong, the address or the stride?"
        asks = asks if first else f"How many elements of {array} lie in one {line}?"
    else:
        number, along = divmod(first, stride)
        begins = f"{begins}: with the stride {stride}, {line} {number}, {other} {along}."
        return begins, f"That is not in {array}. In which {line} and {other} should it begin?"
    return f"{begins}; the stride is {stride}.", asks
