"""One sentence for each discrepancy of form: what is wrong, and which line to look for."""

from typing import Any

import numpy as np

from tools.check import arrays, show
from tools.check.compare import Discrepancy
from tools.check.show import literal

KINDS = {"numpy": "an array", "torch": "a tensor", "cupy": "a cupy array"}


def in_words(discrepancy: Discrepancy) -> str:
    return SENTENCES[discrepancy.kind](discrepancy)


def begin(text: str) -> str:
    """A sentence that begins with a part. "the gradient of x" is words; "result[1]" is code, and stays as it is."""
    return text[0].upper() + text[1:] if text.startswith("the ") else text


def it(discrepancy: Discrepancy) -> str:
    return discrepancy.part or "the result"


def nothing_returned(discrepancy: Discrepancy) -> str:
    if discrepancy.part:
        return begin(f"{discrepancy.part} is None.")
    return f"It returned None; wanted {wanted_kind(discrepancy.want)}."


def wanted_kind(want: Any) -> str:
    """Of an array without its dtype, which may be the oracle's float64 and not the one that is wanted."""
    library = arrays.library(want)
    if library is None:
        return show.kind(want)
    return f"{KINDS[library]} of shape {literal(tuple(want.shape))}"


def wrong_type(discrepancy: Discrepancy) -> str:
    got, want = discrepancy.got, wanted_kind(discrepancy.want)
    if discrepancy.part:
        return begin(f"{discrepancy.part} is {show.kind(got)}; wanted {want}.")
    shown = literal(got)
    if arrays.is_array(got) or isinstance(got, (list, tuple, dict)) or shown == f"<{show.type_name(got)}>":
        return f"It returned {show.kind(got)}; wanted {want}."
    return f"It returned {show.cut(shown, 40)}, {show.kind(got)}; wanted {want}."


def wrong_dtype(discrepancy: Discrepancy) -> str:
    got, want = literal(discrepancy.got), discrepancy.want
    return f"Wrong dtype: {it(discrepancy)} is {got}, wanted {want}. Which line decides the dtype?"


def wrong_shape(discrepancy: Discrepancy) -> str:
    got, shape = literal(discrepancy.got), literal(tuple(discrepancy.want.shape))
    return f"Wrong shape: {it(discrepancy)} is {got}, wanted shape {shape}. Which line decides the shape?"


def wrong_device(discrepancy: Discrepancy) -> str:
    got, want = discrepancy.got.device, discrepancy.want
    return f"Wrong device: {it(discrepancy)} is on {got}, wanted on {want}. Where is it allocated?"


def input_modified(discrepancy: Discrepancy) -> str:
    index = show.first_of(discrepancy.wrong)
    before, after = show.pair(discrepancy.want[index].item(), discrepancy.got[index].item(), 24)
    return (
        f"It changed its input {discrepancy.part}: {discrepancy.part}{show.place(index)} was {before}, "
        f"now it is {after}. Which line writes there?"
    )


def never_written(discrepancy: Discrepancy) -> str:
    were, first = verb(discrepancy.wrong, "was", "were"), show.place(show.first_of(discrepancy.wrong))
    return f"{share(discrepancy.wrong)} of out {were} never written. First: {first}."


def never_stored(discrepancy: Discrepancy) -> str:
    were, first = verb(discrepancy.wrong, "was", "were"), show.place(show.first_of(discrepancy.wrong))
    return f"{share(discrepancy.wrong)} of {it(discrepancy)} {were} never stored. First: {first}."


def returns_its_input(discrepancy: Discrepancy) -> str:
    return f"It returned its input {discrepancy.part} itself, not memory of its own. Where is the result allocated?"


def returns_a_view(discrepancy: Discrepancy) -> str:
    return (
        f"It returned a view of its input {discrepancy.part}: whoever writes to one changes the other. "
        "Where is the result allocated?"
    )


def out_not_returned(discrepancy: Discrepancy) -> str:
    return f"Given out, it returned {show.kind(discrepancy.got)} that is not out. Write into out and return it."


def outside_out(discrepancy: Discrepancy) -> str:
    return f"It wrote to memory {discrepancy.part} out, which has {discrepancy.want} elements. Which positions exist?"


def reads_out(discrepancy: Discrepancy) -> str:
    return "The result depends on what out held before the call. Is out set, or added to?"


def reads_fresh(discrepancy: Discrepancy) -> str:
    return (
        f"{begin(it(discrepancy))} depends on what new memory held, as torch.empty gives it. "
        "What is read there, or added to, before it is stored?"
    )


def share(wrong: np.ndarray) -> str:
    if wrong.all() and wrong.size > 1:
        return f"All {wrong.size} elements"
    return f"{wrong.sum()} of {wrong.size} elements"


def verb(wrong: np.ndarray, one: str, many: str) -> str:
    return one if wrong.sum() == 1 else many


SENTENCES = {
    sentence.__name__: sentence
    for sentence in (
        nothing_returned,
        wrong_type,
        wrong_dtype,
        wrong_shape,
        wrong_device,
        input_modified,
        returns_its_input,
        returns_a_view,
        out_not_returned,
        outside_out,
        never_written,
        never_stored,
        reads_out,
        reads_fresh,
    )
}  # by the kind of discrepancy
