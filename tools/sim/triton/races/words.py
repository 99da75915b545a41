"""Faults of programs that share memory, in words."""

from typing import Any, NamedTuple

from tools.sim.faults import position
from tools.sim.triton import faults
from tools.sim.triton.arguments import View
from tools.sim.triton.faults import Fault, element, running
from tools.sim.triton.races.clocks import BLOCK, SCALAR
from tools.sim.triton.races.shadow import LOAD, PEEK, STORE, UPDATE, Stamps

VERBS = {LOAD: "loads", PEEK: "looks at", STORE: "stores", UPDATE: "updates"}
SAME = (
    "\nBoth store the same value, so a GPU would let it pass. The course does not:\n"
    "with other data it may be another value, and one of the stores is needless."
)
TWICE = ":\nboth do the same work. A GPU would let it pass, the course does not."


class Meeting(NamedTuple):
    """Two accesses to one element, at this virtual address, that nothing puts in order.

    races: those of the launch. mine, theirs: kinds. stamp: of the earlier access. is_same: does a store change nothing?
    """

    races: Any
    view: View
    address: int
    mine: int
    theirs: int
    stamp: int
    is_same: bool

    def other(self, column: int) -> int:
        """Of the earlier access: program, row, epoch or site."""
        return int(self.races.stamps[self.stamp, column])


def race(meeting: Meeting, operation: str) -> Fault:
    """Two programs, one element, no order. operation: of the program that runs."""
    other, advice = meeting.other(Stamps.PROGRAM), _advice(meeting)
    if {meeting.mine, meeting.theirs} == {STORE, UPDATE}:
        fault = faults.wiped_out(meeting.view, meeting.address, other, operation)
    elif meeting.mine == meeting.theirs:
        fault = faults.overlap(meeting.view, meeting.address, other, operation)
        advice = None if meeting.is_same else advice
        if advice is None and (axis := _unasked(meeting.races, other)) is not None:
            told = f"\nThey differ along axis {axis} alone, and neither has asked for tl.program_id({axis})"
            told += TWICE if meeting.is_same else "."
            question = "Should they ask for it, or are there too many programs along that axis?"
            return Fault(fault.kind, fault.what + told, question, array=meeting.view.name, operation=operation)
    else:
        return _unordered(meeting, operation, advice)
    what = fault.what + (SAME if meeting.is_same and meeting.mine == meeting.theirs else "")
    what, question = (f"{what.splitlines()[0]}\n{advice[0]}", advice[1]) if advice else (what, fault.question)
    return Fault(fault.kind, what, question, array=meeting.view.name, operation=operation)


def program(number: int) -> str:
    """3, or (0, 3), of a program's number"""
    _, grid = running()
    place = position(number, grid)
    return str(place[0] if len(place) == 1 else place)


def _unordered(meeting: Meeting, operation: str, advice: tuple[str, str] | None) -> Fault:
    """One program loads what another one changes."""
    mine = meeting.races.now.program, faults.learner_line(), meeting.mine
    theirs = meeting.other(Stamps.PROGRAM), meeting.races.line(meeting.other(Stamps.SITE)), meeting.theirs
    (reader, where, looks), (writer, line, changes) = sorted(
        [mine, theirs], key=lambda each: each[2] in (STORE, UPDATE)
    )
    there = element(meeting.view, meeting.address)
    what = f"program {program(reader)} {VERBS[looks]} {there} of {meeting.view.name} in line {where}, and "
    what += f"program {program(writer)} {VERBS[changes]} it in line {line}.\n"
    if advice is None or looks == PEEK:
        advice = _plainly(looks, changes, of_one=meeting.view.distinct == 1)
    if meeting.is_same and meeting.mine == STORE:
        advice = "Here it keeps its value, so a GPU would let it pass; the course does not.", advice[1]
    return Fault("race", what + advice[0], advice[1], array=meeting.view.name, operation=operation)


def _plainly(looks: int, changes: int, of_one: bool) -> tuple[str, str]:
    """What to say where no chain of atomics is near. of_one: the array has one element, such as a counter."""
    if looks == PEEK:
        return "A plain store publishes nothing.", 'Should it be tl.atomic_xchg(..., sem="release")?'
    if changes == UPDATE:
        return (
            "Nothing puts the two in order, and a plain load may see an old value.",
            'Look by volatile=True, or in order by tl.atomic_add(pointer, 0, sem="acquire").',
        )
    if of_one:
        return (
            "Between a load and a store other programs come in.",
            "Does each add to it? tl.atomic_add loads, adds and stores in one step.",
        )
    return (
        "They run at the same time, so the load may find either value.",
        "Should the result go to another array, or be stored in another launch?",
    )


def _unasked(races: Any, other: int) -> int | None:
    """The axis along which the program that runs differs from another one that has ended, if no program has asked for
    its number there, and there is just one such axis."""
    place, grid = running()
    axes = [axis for axis, pair in enumerate(zip(place, position(other, grid), strict=True)) if pair[0] != pair[1]]
    return axes[0] if len(axes) == 1 and axes[0] not in races.asked and not races.together else None


def _advice(meeting: Meeting) -> tuple[str, str] | None:
    """What is missing in a chain of atomics that is there: a sentence and what to look at."""
    races = meeting.races
    other, epoch = races.states[meeting.other(Stamps.PROGRAM)], meeting.other(Stamps.EPOCH)
    known = races.clocks.known(races.now.program)
    if known is not None and meeting.other(Stamps.ROW) == BLOCK and known[SCALAR, other.program] >= epoch:
        line = next((line for when, line, _ in other.releases if when >= epoch), 0)
        return (
            f"The release in line {line} waits for one thread of program {program(other.program)}, not for all.",
            "All of its threads meet at tl.debug_barrier(). Is one needed before it?",
        )
    published = {place for when, _, place in other.releases if when >= epoch}
    for place, (when, line, how) in other.weak_releases.items():
        is_itself = races.is_behind(place, meeting.view)  # then the load of what the atomic changes is at fault
        if when >= epoch and place in races.now.seen and place not in published and not is_itself:
            return (
                f"Between them is the atomic of line {line}, which is {_how(how)} and publishes nothing.",
                'Which sem= publishes what came before: "release", or "acq_rel"?',
            )
    for place, (_, line, how) in races.now.weak_acquires.items():
        if place in other.written and not races.is_behind(place, meeting.view):
            act = "volatile load" if how == "volatile" else "atomic"
            return (
                f"Between them is the {act} of line {line}, which {_takes(how)}.",
                'An atomic with sem="acquire" would; tl.atomic_add(pointer, 0, ...) only looks.',
            )
    return None


def _how(how: str) -> str:
    return how if how.startswith("of") else f'"{how}"'


def _takes(how: str) -> str:
    return "takes nothing over" if how == "volatile" else f"is {_how(how)} and takes nothing over"
