"""Words for faults of functions that threads call together, and of objects by which they wait; see faults.py."""

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
# Of wmma::load_matrix_sync and store_matrix_sync, where lanes have no element of their own to be masked.
OF_FRAGMENTS = {
    "out_of_bounds": "Its rows are `stride` elements apart, from the address on. Which is wrong?",
    "uninitialised": "Is `stride` that of the tile, and which thread fills this element?",
}


def misused(who: str, text: str) -> tuple[str, str]:
    """What happened and the question, of a fault that the runtime noted in words, with a bar between the two."""
    what, _, question = text.partition("|")
    return f"{who} {what}.", question
