"""One sentence for each fault of form: what is wrong, and which line to look for."""

import numpy as np

from tools.check import arrays, show
from tools.check.compare import Fault
from tools.check.show import literal

KINDS = {"numpy": "an array", "torch": "a tensor", "cupy": "a cupy array"}


def in_words(fault: Fault) -> str:
    return SENTENCES[fault.name](fault)


def it(fault: Fault) -> str:
    return fault.part or "the result"


def nothing_returned(fault: Fault) -> str:
    return f"{fault.part} is None." if fault.part else f"It returned None; wanted {wanted_kind(fault.want)}."


def wanted_kind(want: object) -> str:
    """Of an array without its dtype, which may be the oracle's float64 and not the one that is wanted."""
    if not arrays.is_array(want):
        return show.kind(want)
    return f"{KINDS[arrays.library(want)]} of shape {literal(tuple(want.shape))}"


def wrong_type(fault: Fault) -> str:
    got, want = fault.got, wanted_kind(fault.want)
    if fault.part:
        return f"{fault.part} is {show.kind(got)}; wanted {want}."
    shown = literal(got)
    if arrays.is_array(got) or isinstance(got, (list, tuple, dict)) or shown == f"<{show.type_name(got)}>":
        return f"It returned {show.kind(got)}; wanted {want}."
    return f"It returned {show.cut(shown, 40)}, {show.kind(got)}; wanted {want}."


def wrong_dtype(fault: Fault) -> str:
    return f"Wrong dtype: {it(fault)} is {literal(fault.got)}, wanted {fault.want}. Which line decides the dtype?"


def wrong_shape(fault: Fault) -> str:
    shape = literal(tuple(fault.want.shape))
    return f"Wrong shape: {it(fault)} is {literal(fault.got)}, wanted shape {shape}. Which line decides the shape?"


def wrong_device(fault: Fault) -> str:
    return f"Wrong device: {it(fault)} is on {fault.got.device}, wanted on {fault.want}. Where is it allocated?"


def input_modified(fault: Fault) -> str:
    index = show.first_of(fault.wrong)
    before, after = show.pair(fault.want[index].item(), fault.got[index].item(), 24)
    return (
        f"It changed its input {fault.part}: {fault.part}{show.place(index)} was {before}, "
        f"now it is {after}. Which line writes there?"
    )


def never_written(fault: Fault) -> str:
    were, first = verb(fault.wrong, "was", "were"), show.place(show.first_of(fault.wrong))
    return f"{share(fault.wrong)} of out {were} never written. First: {first}."


def returns_its_input(fault: Fault) -> str:
    return f"It returned its input {fault.part} itself, not memory of its own. Where is the result allocated?"


def returns_a_view(fault: Fault) -> str:
    return (
        f"It returned a view of its input {fault.part}: whoever writes to one changes the other. "
        "Where is the result allocated?"
    )


def out_not_returned(fault: Fault) -> str:
    return f"Given out, it returned {show.kind(fault.got)} that is not out. Write into out and return it."


def outside_out(fault: Fault) -> str:
    return f"It wrote to memory {fault.part} out, which has {fault.want} elements. Which positions exist?"


def reads_out(fault: Fault) -> str:
    return "The result depends on what out held before the call. Is out set, or added to?"


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
        reads_out,
    )
}  # by the name of the fault
