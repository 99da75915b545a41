"""Programs that all wait, in words: who waits for whom."""

from tools.sim.triton import faults
from tools.sim.triton.faults import Fault, element
from tools.sim.triton.races.words import program as name
from tools.sim.triton.turns.loops import Place
from tools.sim.triton.turns.schedule import TRIES, Program, Schedule


def stuck(schedule: Schedule, first: Program) -> Fault:
    """No program can go on; `first` is one of those that wait."""
    if not first.looked:
        return _endless()
    place = _of(first)
    where = f"{element(place.view, place.address)} of {place.view.name}"
    changer = schedule.changers.get(place.address)
    if first.settled and changer is None and not first.asks:
        return _endless(f"\nIt reads {where}, which no program has changed.")
    if schedule.unstarted:
        return _no_room(schedule, first)
    if changer and changer[0] in schedule.flying and changer[0] != first.number:
        links = ", which waits for ".join(f"program {name(each)}" for each in _chain(schedule, first)[1:])
        what = f"No program can go on: program {name(first.number)} waits for {links}.\n"
        what += f"It waits for {where}, which program {name(changer[0])} changed last, in line {changer[1]}."
        question = "Do all programs take what they hold in the same order?"
    elif changer is None:
        what = f"program {name(first.number)} waits for {where}, which no program has changed.\n{_left(schedule)}"
        question = "Which program should change it, and does that program come to that line?"
    elif changer[0] == first.number:
        what = f"program {name(first.number)} waits for {where}, which it changed itself in line {changer[1]}.\n"
        what += _left(schedule)
        question = "Does it take what it holds already, or was that never given back?"
    else:
        what = f"program {name(first.number)} waits for {where}. Program {name(changer[0])} changed it last,\n"
        what += f"in line {changer[1]}, and has ended. {_left(schedule)}"
        question = "What has to change it once more, on every way through the kernel?"
    return Fault("deadlock", what, question, array=place.view.name, operation="load")


def _endless(more: str = "") -> Fault:
    """Of a loop that does not wait for others."""
    what = f"{faults.program_name()} goes round this loop for ever: nothing that it depends on changes.{more}"
    return Fault("deadlock", what, "Which line of the loop should change its condition?")


def _no_room(schedule: Schedule, first: Program) -> Fault:
    place = _of(first)
    return Fault(
        "residency",
        f"program {name(first.number)} waits for {element(place.view, place.address)} of {place.view.name}, and so do "
        f"all {len(schedule.flying):,} programs that fit on a GPU at once.\n"
        f"The other {len(schedule.unstarted):,} start only when one of these ends.",
        "Does a program wait for a later one? Then the grid must not be larger than what fits.",
        array=place.view.name,
    )


def _chain(schedule: Schedule, first: Program) -> list[int]:
    """Numbers of programs that wait for one another, beginning with `first`; the last one may have come before."""
    chain = [first.number]
    while True:
        changer = schedule.changers.get(_of(schedule.flying[chain[-1]]).address)
        if changer is None or changer[0] not in schedule.flying or changer[0] == chain[-1]:
            return chain
        chain.append(changer[0])
        if changer[0] in chain[:-1] or not schedule.flying[changer[0]].looked:
            return chain


def _of(program: Program) -> Place:
    """The first place that a program looks at."""
    assert program.looked
    return next(iter(program.looked.values()))


def _left(schedule: Schedule) -> str:
    """How many programs wait, and how that is known."""
    waiting, total = len(schedule.flying), schedule.total
    said = "No program is left" if waiting == 1 else f"All {waiting} programs that are left wait"
    tried = any(not each.settled for each in schedule.flying.values())
    ending = f", after {TRIES:,} rounds in vain." if tried else "."
    return (f"{said}, of {total}" if waiting > 1 else f"{said} that could change it") + ending
