"""assert_matches: a lesson's function against an oracle. Which calls are made, and what a failure is."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from tools import worker
from tools.check import arrays, auditing, explain, text, tolerances
from tools.check import layouts as memory_layouts
from tools.check.case import Case, copied
from tools.check.compare import Discrepancy, Rule
from tools.check.fence import Fence
from tools.check.verify import never_stored, verify, verify_out
from tools.marker import marker_in

ONLY_WITH_OUT = ("outside_out", "never_written", "reads_out")  # which only a call with out can tell
LAYOUT_CAUSE = "With {} contiguous the result was right. Which line counts on how it is stored?"


class Mismatch(AssertionError):
    """A lesson's function did something else than it should.

    text: what the learner reads, at most 12 lines of at most 76 columns.
    cause: name of the likely cause, or the kind of discrepancy where that says it all ("wrong_dtype"); None if
        unknown.
    function: what was called. with_note: the text with a line more below the call.
    """

    def __init__(
        self,
        text: str,
        cause: str | None,
        function: Callable | None = None,
        with_note: Callable[[str], str] | None = None,
    ):
        super().__init__(text)
        self.text, self.cause, self.function = text, cause, function
        self.with_note = with_note or (lambda note: text)

    def retold(self, said: str) -> "Mismatch":
        """The same call and what came back of it, with these sentences in the place of its likely cause."""

        def ending(told: str) -> str:
            return "\n\n".join([*told.split("\n\n")[:2], "\n".join(text.wrapped(said))])

        return Mismatch(ending(self.text), self.cause, self.function, lambda note: ending(self.with_note(note)))


def assert_matches(
    function: Callable,
    *args: object,
    oracle: Callable,
    exact: bool = False,
    tolerance: tolerances.Tolerance | Mapping[str, tolerances.Tolerance] | None = None,
    layouts: str = "contiguous",
    **kwargs: object,
) -> object:
    """Assert that function(*args, **kwargs) returns what oracle(*args, **kwargs) does; give back the value.

    oracle: gets copies of the arguments, float arrays in float64 (in their own dtype when exact).
    exact: equal to the bit; but any NaN equals any other.
    tolerance: for floats; by default 1e-12 for Python floats and tolerances.elementwise for arrays. All else
        is compared exactly, types too. Float arrays must have the tolerance's dtype, or else that of the
        widest float array among the arguments. Each of `gradients(f)` has the dtype of its own argument, and may have
        a tolerance of its own: {"x": accumulated(...), "weight": ...}.
    layouts: "any" also calls it with each array argument stored in three other ways.

    Arguments must stay as they are, and the result must have memory of its own. A function with a parameter
    `out` is called again with an `out` full of poison inside a fence, which it must fill and return.

    Raises Mismatch; or NotImplementedError, as the lesson does, while a gap is not written yet.
    """
    __tracebackhide__ = True
    if exact and tolerance or layouts not in ("contiguous", "any") or "out" in kwargs:
        raise ValueError("exact or tolerance, not both; layouts is 'contiguous' or 'any'; out is made here")
    for_all = tolerance if isinstance(tolerance, tolerances.Tolerance) else None
    rule = Rule(exact, for_all, widest_float((args, kwargs)))
    own_args, own_kwargs = copied((args, kwargs))  # together: a clock and its work stay together
    case = Case(function, own_args, own_kwargs, oracle, rule, handed=(args, kwargs))
    case = case.with_rules(tolerance if isinstance(tolerance, Mapping) else {})
    try:
        outcome = worker.call(function, args, kwargs)
    except worker.NoAnswer as silence:
        silence.add_note("\n".join(text.call_lines(case.name, case.arguments)))  # which call it was
        raise
    raise_gap(outcome)
    want = None if outcome.error else case.wanted()
    check_plain(case, outcome, want)
    auditing.audit(case, outcome.value, want)
    if case.takes_out:
        check_out(case, outcome.value, want)
    if layouts == "any":
        check_layouts(case, want)
    return outcome.value


def widest_float(values: object) -> str | None:
    floats = [array for array in arrays.all_arrays(values) if arrays.is_float(array)]
    return arrays.dtype_name(max(floats, key=lambda array: array.dtype.itemsize).dtype) if floats else None


def raise_gap(outcome: worker.Outcome) -> None:
    __tracebackhide__ = True
    error = outcome.error
    if error and error.type_name == "NotImplementedError" and marker_in(error.message):
        raise NotImplementedError(error.message)


# The calls ------------------------------------------------------------------------------------------------


def check_plain(case: Case, outcome: worker.Outcome, want: object) -> None:
    __tracebackhide__ = True
    discrepancy = verify(case, outcome, want)
    if discrepancy and discrepancy.kind == "values" and explain.may_call_again(case, outcome):
        if case.takes_out:
            with suppress(worker.NoAnswer):  # this call only explains: the discrepancy stands
                check_out(case, outcome.value, want, only=ONLY_WITH_OUT)
        elif explain.is_wanted() and explain.allocates(case.function):
            discrepancy = never_stored(case, discrepancy, want)
    if discrepancy:
        fail(case, discrepancy, *explain.cause(case, discrepancy, outcome))


def check_out(case: Case, like: object, want: object, only: tuple[str, ...] = ()) -> None:
    """The call with `out`. only: the kinds to look for, when the call without out has failed."""
    __tracebackhide__ = True
    if not arrays.is_array(like):
        raise TypeError(f"{case.name} takes out, so it must return one array")
    fence = Fence(like, arrays.poison(like))
    outcome = case.call(out=fence.window)
    discrepancy = verify_out(case, outcome, want, fence)
    if discrepancy and (not only or discrepancy.kind in only):
        fail(case, discrepancy, *explain.cause(case, discrepancy, outcome), out=like)


def check_layouts(case: Case, want: object) -> None:
    __tracebackhide__ = True
    for name, array in case.arguments.items():
        for words, moved in memory_layouts.others(name, array) if arrays.is_array(array) else ():
            discrepancy = verify(case, case.call(**{name: moved}), want)
            if discrepancy:
                fail(case, discrepancy, LAYOUT_CAUSE.format(name), "layout", words)


def fail(
    case: Case, found: Discrepancy, words: str | None, cause: str | None, layout: str = "", **extra: object
) -> None:
    """extra: arguments of the call besides those of the test."""
    __tracebackhide__ = True
    head = text.call_lines(case.name, case.arguments | extra)
    if layout:
        head += text.wrapped(f"the same values with {layout}")
    found = replace(found, part=case.called(found.part))

    def with_note(note: str) -> str:
        return text.compose([*head, *text.wrapped(note)], found, words)

    raise Mismatch(text.compose(head, found, words), cause, case.function, with_note)
