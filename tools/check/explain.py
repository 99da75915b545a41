"""From a discrepancy to its likely cause. What is called here only explains a failure that is certain already."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tools import worker
from tools.check import arrays
from tools.check.case import Case, copied
from tools.check.compare import Discrepancy, contents, form, wrong_elements
from tools.check.patience import SLOW_CALL, allowed
from tools.check.text import is_refusal
from tools.sim.counters import Counters

if TYPE_CHECKING:
    from tools.check.diagnosis import Symptoms

GUESSED = (
    "values",
    "never_written",
    "never_stored",
    "wrong_shape",
    "wrong_type",
    "nothing_returned",
    "raised",
)  # others say it all

OF_TESTS = re.compile(r"week\d+\.(\w+\.)+test_\w+")  # modules, whose functions are helpers and no lesson's

_wanted = True


class Failed(Exception):
    """A further call raised."""


@contextmanager
def without_causes() -> Iterator[None]:
    """In this block a failure says what is wrong, and nobody looks for the cause."""
    global _wanted
    before, _wanted = _wanted, False
    try:
        yield
    finally:
        _wanted = before


def is_wanted() -> bool:
    """Does anybody look for causes?"""
    return _wanted


def allocates(function: Callable) -> bool:
    """Does the module of the function make tensors to which nothing is stored yet?"""
    from tools.check.diagnosis.source import source_of

    source = source_of(function)
    return source is not None and source.allocates


def may_call_again(case: Case, outcome: worker.Outcome) -> bool:
    """Not where it takes long, nor where it may have changed an object that the lesson made."""
    return outcome.seconds < allowed(SLOW_CALL) and not case.holds_lesson_objects


def cause(case: Case, discrepancy: Discrepancy, outcome: worker.Outcome) -> tuple[str | None, str | None]:
    """(words, name) of the likely cause; words are None where the discrepancy says all that is known."""
    itself = None if discrepancy.kind == "values" else discrepancy.kind
    try:
        guessing = _wanted and (discrepancy.kind in GUESSED or is_refusal(discrepancy))
        words, name = guess(case, discrepancy, outcome) if guessing else (None, None)
    except worker.NoAnswer:  # a further call crashed, or time is up: the discrepancy stands without its cause
        return None, itself
    return words, name or itself


def guess(case: Case, discrepancy: Discrepancy, outcome: worker.Outcome) -> tuple[str | None, str | None]:
    from tools.check import diagnosis  # here, because a run that passes never needs it

    found = diagnosis.diagnose(symptoms(case, discrepancy, outcome))
    return (found.words, found.name) if found else (None, None)


def cause_of_values(discrepancy: Discrepancy) -> tuple[str | None, str | None]:
    """The same where nothing is known but both arrays: no further call is made."""
    from tools.check import diagnosis

    tolerance = discrepancy.tolerance.relative if discrepancy.tolerance else 0.0
    got, want = map(as_numpy, (discrepancy.got, discrepancy.want))
    known = diagnosis.Symptoms("values", got, want, discrepancy.wrong, tolerance=tolerance)
    found = diagnosis.diagnose(known) if _wanted else None
    return (found.words, found.name) if found else (None, None)


def repeats(case: Case, outcome: worker.Outcome) -> bool:
    """Does the same call give the same again? Within the tolerance: a sum in another order may change last digits."""
    second = case.call()
    both = second.value, outcome.value, case.rule
    return not (second.error or form(*both) or contents(*both))


def symptoms(case: Case, discrepancy: Discrepancy, outcome: worker.Outcome) -> Symptoms:
    """All that a recogniser may look at, in NumPy arrays; of a result with parts, only the faulty one."""
    from tools.check.diagnosis import Symptoms
    from tools.check.diagnosis.source import source_of

    whole, source = not discrepancy.part, source_of(case.function)
    again = whole and may_call_again(case, outcome)
    rule = case.rule.of(discrepancy.part)
    tolerance = discrepancy.tolerance if discrepancy.kind == "values" else rule.tolerance
    found = Symptoms(
        _kind(discrepancy),
        got=as_numpy(discrepancy.got),
        want=as_numpy(discrepancy.want),
        wrong=wrong_elements(discrepancy),
        args=as_numpy(case.args),
        names=tuple(case.arguments)[: len(case.args)],
        keywords=as_numpy(case.kwargs),
        used=case.used,
        oracle=numpy_oracle(case) if whole else None,
        again=numpy_call(case) if again else None,
        parts=case.parts if whole else None,
        repeats=lambda: repeats(case, outcome) if again and discrepancy.kind == "values" else True,
        outcome=outcome,
        tolerance=tolerance.relative if tolerance else 0.0,
        dtype=rule.dtype_of(discrepancy.want) if arrays.is_array(discrepancy.want) else rule.dtype,
        count=counted_call(case) if again and source and source.has_kernels else None,
        source=source,
        is_of_tests=bool(OF_TESTS.fullmatch(getattr(case.function, "__module__", None) or "")),
    )
    return replace(found, **of_gradient(case, discrepancy.part)) if discrepancy.part in case.gradients_for else found


def _kind(discrepancy: Discrepancy) -> str:
    """As the recognisers are sorted by."""
    if is_refusal(discrepancy):
        return "refusal"
    return "never_written" if discrepancy.kind == "never_stored" else discrepancy.kind


def of_gradient(case: Case, part: str) -> dict[str, Any]:
    """What is known besides of one gradient: the oracle's for other arguments, of which the last one is d_out then."""
    place, d_out = list(case.gradients_for).index(part), case.kwargs[worker.GIVEN]
    found: Any = case.wanted()
    wanted = {name: as_numpy(found[i]) for i, (name, _) in enumerate(case.gradients_for.values())}
    known: dict[str, Any] = {"gradient_of": case.gradients_for[part][0], "gradients": wanted}
    if not arrays.is_array(d_out):
        return known

    def oracle(*args: Any, **keywords: Any) -> Any:
        own, arriving = as_given(args[:-1], case.args), arrays.like(args[-1], d_out)
        answer: Any = case.wanted(own, **{worker.GIVEN: arriving}, **keywords)
        return as_numpy(answer[place])

    oracle.__name__ = getattr(case.oracle, "__name__", "<lambda>")
    return known | {
        "args": as_numpy((*case.args, d_out)),
        "names": (*tuple(case.arguments)[: len(case.args)], worker.GIVEN),
        "keywords": as_numpy({name: value for name, value in case.kwargs.items() if name != worker.GIVEN}),
        "oracle": oracle,
    }


def numpy_oracle(case: Case) -> Callable:
    def oracle(*args: Any, **keywords: Any) -> Any:
        return as_numpy(case.wanted(as_given(args, case.args), **keywords))

    oracle.__name__ = getattr(case.oracle, "__name__", "<lambda>")  # appears in causes: "equals add(x, x)"
    oracle.__wrapped__ = case.oracle  # type: ignore[attr-defined]  # its parameters can be read
    return oracle


def numpy_call(case: Case) -> Callable:
    def again(*args: Any, **keywords: Any) -> Any:
        given = as_given(args, case.args), case.kwargs | keywords
        args, kwargs = copied(given)  # all at once: a clock and its work stay together
        outcome = worker.call(case.function, args, kwargs)
        if outcome.error:
            raise Failed(f"{outcome.error.type_name}: {outcome.error.message}")
        return as_numpy(outcome.value)

    return again


def counted_call(case: Case) -> Callable:
    def counted(*args: Any) -> Counters:
        from tools.check.count import count

        args, kwargs = copied((as_given(args, case.args), case.kwargs))
        return count(case.function, *args, **kwargs)

    return counted


def as_numpy(value: object) -> Any:
    return arrays.change_arrays(arrays.in_numpy, value)


def as_given(values: tuple, originals: tuple) -> tuple:
    """NumPy arguments in the kind, dtype and device that the test gave."""
    return tuple(
        arrays.like(value, given) if arrays.is_array(value) and arrays.is_array(given) else value
        for value, given in zip(values, originals)
    )
