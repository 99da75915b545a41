"""The right operation on other arguments: exchanged, read twice, left out, transposed, cut short."""

from itertools import combinations, permutations

import numpy as np

from tools.check.diagnosis.evidence import ENOUGH_BITS, Cause, Evidence, cause, varied
from tools.check.diagnosis.numbers import differ, number
from tools.check.diagnosis.words import call_text

BLOCKS = tuple(2**k for k in range(1, 11))  # sizes that a ragged tail is the remainder of


def with_argument(args: tuple, index: int, value) -> tuple:
    return (*args[:index], value, *args[index + 1:])


def _names(evidence) -> list[str]:
    return [evidence.name_of(i) for i in range(len(evidence.args))]


def _alike(one, other) -> bool:
    """Whether one argument could be passed for the other by mistake."""
    both = isinstance(one, np.ndarray), isinstance(other, np.ndarray)
    return all(both) if any(both) else type(one) is type(other) and isinstance(one, (int, float))


def argument_unchanged(evidence: Evidence) -> Cause | None:
    for i, arg in enumerate(evidence.args):
        if isinstance(arg, np.ndarray) and evidence.holds(lambda case: case.args[i]):
            return cause("argument_unchanged", f"What came back equals {evidence.name_of(i)}. What should happen to it?")
    return None


def swapped_arguments(evidence: Evidence) -> Cause | None:
    for i, j in combinations(range(len(evidence.args)), 2):
        def swapped(case):
            args = list(case.args)
            args[i], args[j] = args[j], args[i]
            return evidence.ask(*args)

        if _alike(evidence.args[i], evidence.args[j]) and evidence.holds(swapped):
            names = _names(evidence)
            names[i], names[j] = names[j], names[i]
            return cause("swapped_arguments", f"What came back equals {call_text(evidence.oracle, names)}.\n"
                                              f"What is {evidence.name_of(i)} for, and what is {evidence.name_of(j)}?")
    return None


def repeated_argument(evidence: Evidence) -> Cause | None:
    for i, j in permutations(range(len(evidence.args)), 2):
        if not _alike(evidence.args[i], evidence.args[j]):
            continue
        if evidence.holds(lambda case: evidence.ask(*with_argument(case.args, j, case.args[i]))):
            names = _names(evidence)
            names[j] = names[i]
            return cause("repeated_argument", f"What came back equals {call_text(evidence.oracle, names)}: "
                                              f"is {evidence.name_of(j)} used at all?")
    return None


def neutral_argument(evidence: Evidence) -> Cause | None:
    """One argument might as well have been all zeros, or all ones."""
    if len(evidence.args) < 2:
        return None
    for i, arg in enumerate(evidence.args):
        for filler in (0, 1) if isinstance(arg, (np.ndarray, float)) else ():
            value = np.full_like(arg, filler) if isinstance(arg, np.ndarray) else float(filler)
            if evidence.holds(lambda case: evidence.ask(*with_argument(case.args, i, value))):
                names = _names(evidence)
                names[i] = str(filler)
                return cause("unused_argument", f"What came back equals {call_text(evidence.oracle, names)}: "
                                                f"is {evidence.name_of(i)} used at all?")
    return None


def negated_argument(evidence: Evidence) -> Cause | None:
    """One argument might as well have had the opposite sign."""
    for i, arg in enumerate(evidence.args):
        if not isinstance(arg, float) and getattr(arg, "dtype", None) not in (np.float32, np.float64):
            continue
        if evidence.holds(lambda case: evidence.ask(*with_argument(case.args, i, -case.args[i]))):
            name = evidence.name_of(i)
            return cause("negated_argument", f"What came back is right for -{name} in place of {name}.\n"
                                             "Where does the sign come from?")
    return None


def unused_argument(evidence: Evidence) -> Cause | None:
    """Another value for one argument should change the result, and does not. Costs a call for each argument."""
    if not evidence.comparable or evidence.all_right or evidence.is_slow:
        return None
    if not np.isfinite(evidence.here.got).all():
        return None  # a NaN stays NaN whatever the arguments are
    for i, arg in list(enumerate(evidence.args))[:4]:
        if not isinstance(arg, float) and not (isinstance(arg, np.ndarray) and arg.size > 3):
            continue
        other = with_argument(evidence.args, i, varied(arg, 3))
        want, got = evidence.ask(*other), number(evidence.call_again(*other))
        if want is None or got is None or got.shape != evidence.here.got.shape or want.shape != evidence.here.want.shape:
            continue
        if evidence.telling_bits(want, evidence.here.want) >= ENOUGH_BITS and np.array_equal(got, evidence.here.got, equal_nan=True):
            return cause("unused_argument", f"With another {evidence.name_of(i)} the same comes back. Is it used at all?")
    return None


def wrong_axis(evidence: Evidence) -> Cause | None:
    """The operation ran along another axis of one argument, or took the argument transposed."""
    for i, arg in enumerate(evidence.args):
        for p, q in combinations(range(arg.ndim if isinstance(arg, np.ndarray) else 0), 2):
            flipped = evidence.ask(*with_argument(evidence.args, i, arg.swapaxes(p, q)))
            if flipped is None:
                continue
            axes = "the rows and columns" if arg.ndim == 2 else f"axes {p} and {q}"
            back = flipped.swapaxes(p, q) if flipped.ndim == arg.ndim else flipped
            if evidence.holds(lambda case: back):
                return cause("wrong_axis", f"What came back is right if {axes} of {evidence.name_of(i)} change roles.\n"
                                           "Which axis does the operation run along?")
            if evidence.holds(lambda case: flipped):
                return cause("argument_transposed", f"What came back is right for {evidence.name_of(i)} transposed.\n"
                                                    f"Which way round is {evidence.name_of(i)} read?")
    return None


def arguments_cut_short(evidence: Evidence) -> Cause | None:
    """Right for arguments that end, or begin, a few elements early: a sum that misses its tail or its head.

    Every axis of one length is cut alike, so that a dot product or the inner dimension of a matrix product is seen.
    """
    if not evidence.comparable:
        return None
    arrays = [arg for arg in evidence.args if isinstance(arg, np.ndarray)]
    for length in sorted({n for arg in arrays for n in arg.shape if n >= 4}):
        for kept in sorted({length - 1} | {length // block * block for block in BLOCKS}, reverse=True):
            if 0 < kept < length and _right_for(evidence, length, slice(None, kept)):
                return cause("tail_ignored", f"What came back is right for the first {kept} of {length} elements.\n"
                                             f"What happens to the last {_count(length - kept)}?")
        if _right_for(evidence, length, slice(1, None)):
            return cause("head_ignored", f"What came back is right for all but the first of {length} elements.\n"
                                         "Which element does the loop start from?")
    return None


def _right_for(evidence, length, part) -> bool:
    def cut(arg):
        if not isinstance(arg, np.ndarray):
            return arg
        return arg[tuple(part if n == length else slice(None) for n in arg.shape)]
    return evidence.holds(lambda case: evidence.ask(*map(cut, case.args)))


def _count(n: int) -> str:
    return "one" if n == 1 else str(n)


def differs_between_runs(evidence: Evidence) -> Cause | None:
    """The same call again gives something else."""
    if not evidence.comparable or evidence.all_right:
        return None
    second = number(evidence.call_again(*evidence.args))
    if second is None or second.shape != evidence.here.got.shape or not differ(evidence.here.got, second, evidence.slack):
        return None
    return cause("differs_between_runs", "The same call again gave something else. Is each element written before\n"
                                         "it is read, and by only one writer?")
