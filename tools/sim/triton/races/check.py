"""Accesses of two programs to one element, at least one of which changes it, that nothing puts in order."""

import ctypes
from types import CodeType, TracebackType
from typing import Any

import numpy as np

from tools.sim.triton.arguments import View
from tools.sim.triton.faults import Fault, learner_frame, learner_line, learner_traceback
from tools.sim.triton.races import words
from tools.sim.triton.races.arena import Arena
from tools.sim.triton.races.clocks import BLOCK, SCALAR, Clocks, Event
from tools.sim.triton.races.shadow import LOAD, PEEK, STORE, UPDATE, Shadow, Stamps

KINDS = {"load": LOAD, "store": STORE, "atomic": UPDATE}


class State:
    """One program. epoch: counts its synchronisations; barrier: up to which epoch all of its threads are together.

    first: number of its first stamp. releases: epoch, line and place of each. weak_releases, weak_acquires: by place,
    the last atomic that published nothing, or took nothing over, as its epoch, line and a word for why. written, seen:
    places of its atomics.
    """

    def __init__(self, program: int, first: int) -> None:
        self.program, self.first = program, first
        self.epoch, self.barrier = 1, 0
        self.together = 0  # the barrier before the last atomic
        self.stamps: dict[tuple[int, ...], int] = {}
        self.releases: list[tuple[int, int, Shadow]] = []
        self.weak_releases: dict[Shadow, tuple[int, int, str]] = {}
        self.weak_acquires: dict[Shadow, tuple[int, int, str]] = {}
        self.written: set[Shadow] = set()
        self.seen: set[Shadow] = set()

    def meet(self) -> None:
        """All threads of the program meet at a barrier."""
        self.barrier = self.epoch
        self.epoch += 1


class Races:
    """The accesses of one launch.

    together: are its programs in flight together? now: the program that runs. is_peek: does the access that comes now
    only look, as a volatile load does? value: pointers, values and mask of the store that comes now. asked: the axes of
    the grid along which a program has asked for its number.
    """

    def __init__(self, programs: int, together: bool = False) -> None:
        self.stamps, self.clocks = Stamps(), Clocks(programs)
        self.states: dict[int, State] = {}
        self.together = together
        self._shadows: dict[tuple[View, int], Shadow] = {}
        self.is_peek = False
        self.value: tuple[Any, Any, Any] | None = None
        self.asked: set[int] = set()
        self._arena = Arena()
        self._sites: dict[tuple[int, int], int] = {}
        self._codes: list[tuple[CodeType | None, int]] = []
        self._late: tuple[Fault, TracebackType | None] | None = None
        self._last: tuple[Shadow, np.ndarray, int] | None = None  # of an atomic or a volatile load

    def run(self, program: int) -> None:
        """This program runs now, or goes on."""
        if program not in self.states:
            self.states[program] = State(program, self.stamps.count)
        self.now = self.states[program]

    def access(self, operation: str, view: View, addresses: np.ndarray, size: int) -> None:
        """Take in an access to existing elements within one view. Raises Fault."""
        kind = PEEK if self.is_peek else KINDS[operation]
        shadow, stamp = self.shadow(view, size), self._stamp(kind, addresses.size)
        is_kept = kind != STORE and shadow.is_harmless(kind)
        places = addresses
        if view.storage != shadow.storage:  # another view of the same memory
            places = addresses - np.uint64(view.storage) + shadow.storage
        if is_kept:
            places = self._kept(places)
            shadow.keep(kind, stamp, places)
        if kind in (UPDATE, PEEK):
            self._last = shadow, places, kind
        if not is_kept:
            index = shadow.index(places)
            self._check(operation, kind, shadow, view, addresses, index)
            shadow.enter(kind, stamp, index)

    def _check(
        self, operation: str, kind: int, shadow: Shadow, view: View, addresses: np.ndarray, index: np.ndarray
    ) -> None:
        """Raise Fault if another program's access to one of these elements is not in order with this one.

        Programs that run one by one hear of a load later: a store to the same element, if it comes, is the plainer one.
        """
        for other, stamps in shadow.met(kind, index):
            if not stamps.any():
                continue
            wrong = self._foreign(stamps)
            if wrong.any() and (wrong := wrong & ~self._known(stamps)).any():
                first = int(np.argmax(wrong))
                is_same = kind == STORE and self._late is None and self._is_same(view, addresses, wrong)
                meeting = words.Meeting(self, view, int(addresses[first]), kind, other, int(stamps[first]), is_same)
                fault = words.race(meeting, operation)
                if kind != LOAD or self.together:
                    raise fault
                self._late = self._late or (fault, learner_traceback())

    def _kept(self, addresses: np.ndarray) -> np.ndarray:
        kept = self._arena.keep(addresses)
        if kept is None:
            self.clocks.known(self.now.program)
            for shadow in self._shadows.values():
                shadow.make_room()
            self._arena.clear()
            kept = self._arena.keep(addresses)
        return addresses if kept is None else kept

    def synchronise(self, written: np.ndarray | bool, sem: str, scope: str) -> None:
        """The last access was an atomic. written: which of its elements it wrote, or whether all."""
        if self._last is None:
            return
        (place, addresses, kind), self._last = self._last, None
        now, line, others_see = self.now, learner_line(), scope != "cta"
        acquires, releases = (others_see and sem in (each, "acq_rel") for each in ("acquire", "release"))
        how = sem if others_see else 'of scope "cta"'
        now.seen.add(place)
        if written if isinstance(written, bool) else written.any():
            now.written.add(place)
            if releases:
                now.releases.append((now.epoch, line, place))
            else:
                now.weak_releases[place] = now.epoch, line, how
        if not acquires and (kind == PEEK or sem != "release"):
            now.weak_acquires[place] = now.epoch, line, how
        if acquires or releases:
            epochs = now.epoch, now.barrier
            self.clocks.add(Event(now.program, epochs, acquires, releases, place, addresses, written))
        now.together = now.barrier
        if addresses.size == 1:
            now.meet()
        else:
            now.epoch += 1

    def drop(self) -> None:
        """Nobody uses the result of the last atomic, so the threads of the program do not wait for it."""
        self.now.barrier = self.now.together

    def finish(self) -> None:
        """The program that runs ends. Raises the Fault of a load, which waited for a store that would say more."""
        late, self._late = self._late, None
        if late is not None:
            raise late[0].with_traceback(late[1])

    def look(self) -> None:
        """The last access was a volatile load, which takes nothing over."""
        if self._last is not None:
            self.now.seen.add(self._last[0])
            self.now.weak_acquires[self._last[0]] = self.now.epoch, learner_line(), "volatile"
            self._last = None

    def shadow(self, view: View, size: int) -> Shadow:
        """What happened to the memory behind a view, by elements of this many bytes."""
        if (view, size) not in self._shadows:
            real = view.storage - int(view.shift)
            known = (
                each
                for (other, wide), each in self._shadows.items()
                if wide == size and other.storage - int(other.shift) == real
            )
            self._shadows[view, size] = next(known, None) or self._new_shadow(view, size)
        return self._shadows[view, size]

    def is_behind(self, shadow: Shadow, view: View) -> bool:
        """Is it of the memory behind this view?"""
        return any(each is shadow for (other, _), each in self._shadows.items() if other is view)

    def _new_shadow(self, view: View, size: int) -> Shadow:
        return Shadow(view.storage, view.tensor.untyped_storage().nbytes() // size, size, self.stamps)

    def _stamp(self, kind: int, elements: int) -> int:
        now = self.now
        row = BLOCK if elements > 1 and kind in (LOAD, STORE) else SCALAR
        frame = learner_frame()
        here = (id(frame.f_code), frame.f_lasti) if frame else (0, 0)
        site = self._sites.get(here)
        if site is None:
            site = self._sites[here] = len(self._sites)
            self._codes.append((frame.f_code if frame else None, here[1]))
        key = row, now.epoch, site, kind
        stamp = now.stamps.get(key)
        if stamp is None:
            stamp = now.stamps[key] = self.stamps.add(now.program, *key)
        return stamp

    def line(self, site: int) -> int:
        """The number of the line of a site, as stamps have it."""
        code, instruction = self._codes[site]
        lines = code.co_lines() if code else ()
        return next((line or 0 for start, end, line in lines if start <= instruction < end), 0)

    def _foreign(self, stamps: np.ndarray) -> np.ndarray:
        """Which of these are another program's."""
        if self.together:
            return (stamps != 0) & (self.stamps[stamps, Stamps.PROGRAM] != self.now.program)
        return (stamps != 0) & (stamps < self.now.first)

    def _known(self, stamps: np.ndarray) -> np.ndarray:
        """Which of these does the program know to be over?"""
        known = self.clocks.known(self.now.program)
        if known is None:
            return np.zeros(stamps.shape, bool)
        programs, rows, epochs = (self.stamps[stamps, each] for each in (Stamps.PROGRAM, Stamps.ROW, Stamps.EPOCH))
        return known[rows, programs] >= epochs

    def _is_same(self, view: View, addresses: np.ndarray, which: np.ndarray) -> bool:
        """Does the store leave these elements as they are?"""
        if self.value is None:
            return False
        pointers, value, mask = self.value
        mask = mask if mask is None or isinstance(mask, np.ndarray) else mask.data
        values = np.broadcast_to(value.data, pointers.data.shape)
        values = values.ravel() if mask is None or mask.all() else values[mask]
        if values.size != addresses.size:
            return False
        size, real = values.itemsize, (addresses - view.shift)[which].tolist()
        return all(ctypes.string_at(place, size) == value.tobytes() for place, value in zip(real, values[which]))
