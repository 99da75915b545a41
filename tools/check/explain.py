"""From a fault to its likely cause. What is called here only explains a failure that is certain already."""

import sys
from collections.abc import Callable
from pathlib import Path

from tools import worker
from tools.check import arrays
from tools.check.case import Case, copied
from tools.check.compare import Fault, contents, form
from tools.check.text import is_refusal

SLOW = 2.0  # seconds of a call beyond which no further call is made to explain it
GUESSED = ("values", "never_written", "wrong_shape")  # faults with a cause behind them; others say it all
KERNELS = ("@triton.jit", "@cuda.jit")
RUN_TO_RUN = ("The same call again gave something else.\n"
              "What is read before it is written, or left over from call to call?")


class Failed(Exception):
    """A further call raised."""


def may_call_again(case: Case, outcome: worker.Outcome) -> bool:
    """Not where it takes long, nor where it may have changed an object that the lesson made."""
    return outcome.seconds < SLOW and not case.holds_lesson_objects


def cause(case: Case, fault: Fault, outcome: worker.Outcome) -> tuple[str | None, str | None]:
    """(words, name) of the likely cause; words are None where the fault says all that is known."""
    itself = None if fault.name == "values" else fault.name
    try:
        guessing = fault.name in GUESSED or is_refusal(fault)
        words, name = guess(case, fault, outcome) if guessing else (None, itself)
    except worker.NoAnswer:  # a further call crashed, or time is up: the fault stands without its cause
        return None, itself
    return (None, itself) if name in (None, itself) else (words, name)


def guess(case: Case, fault: Fault, outcome: worker.Outcome) -> tuple[str | None, str | None]:
    if fault.name == "values" and may_call_again(case, outcome) and differs_between_runs(case, outcome):
        return RUN_TO_RUN, "differs_between_runs"
    from tools.check import diagnosis  # here, because a run that passes never needs it
    diagnose = diagnosis.diagnose_refusal if is_refusal(fault) else diagnosis.diagnose
    found = diagnose(evidence(case, fault, outcome))
    return (found.words, found.name) if found else (None, None)


def differs_between_runs(case: Case, outcome: worker.Outcome) -> bool:
    """Beyond the tolerance, that is: a sum in another order may well change the last digits."""
    second = case.call()
    both = second.value, outcome.value, case.rule
    return bool(second.error or form(*both) or contents(*both))


def evidence(case: Case, fault: Fault, outcome: worker.Outcome) -> object:
    """All that a recogniser may look at, in NumPy arrays; of a result with parts, only the faulty one."""
    from tools.check.diagnosis import Evidence

    whole = not fault.part
    return Evidence(
        got=as_numpy(fault.got), want=as_numpy(fault.want),
        args=as_numpy(case.args), names=tuple(case.arguments)[:len(case.args)],
        oracle=numpy_oracle(case) if whole else None,
        again=numpy_call(case) if whole and may_call_again(case, outcome) else None,
        poison=fault.wrong if fault.name == "never_written" else None,
        outcome=outcome,
        tolerance=fault.tolerance.relative if fault.tolerance else 0.0,
        count=counted_call(case) if whole and has_kernels(case) and may_call_again(case, outcome) else None,
    )


def numpy_oracle(case: Case) -> Callable:
    def oracle(*args):
        return as_numpy(case.wanted(as_given(args, case.args)))
    oracle.__name__ = getattr(case.oracle, "__name__", "<lambda>")  # appears in causes: "equals add(x, x)"
    return oracle


def numpy_call(case: Case) -> Callable:
    def again(*args):
        args, kwargs = copied((args, case.kwargs))  # all at once: a clock and its work stay together
        outcome = worker.call(case.function, as_given(args, case.args), kwargs)
        if outcome.error:
            raise Failed(f"{outcome.error.type_name}: {outcome.error.message}")
        return as_numpy(outcome.value)
    return again


def counted_call(case: Case) -> Callable:
    def counted():
        from tools.check.count import count
        args, kwargs = copied((case.args, case.kwargs))
        return count(case.function, *args, **kwargs)
    return counted


def has_kernels(case: Case) -> bool:
    """Does the lesson hold kernels? Where it does not, it says nothing that none was launched."""
    file = getattr(sys.modules.get(case.function.__module__), "__file__", None)
    try:
        source = Path(file).read_text(encoding="utf-8", errors="replace") if file else ""
    except OSError:  # typed at a prompt, or deleted since
        source = ""
    return any(kernel in source for kernel in KERNELS)


def as_numpy(value: object) -> object:
    return arrays.change_arrays(arrays.in_numpy, value)


def as_given(values: tuple, originals: tuple) -> tuple:
    """NumPy arguments in the kind, dtype and device that the test gave."""
    return tuple(arrays.like(value, given) if arrays.is_array(value) and arrays.is_array(given) else value
                 for value, given in zip(values, originals))
