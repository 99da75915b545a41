"""Hooks around loads, stores, atomics and barriers of a kernel, for what they mean to other programs."""

from typing import Any

import numpy as np

from tools.sim.triton import memory
from tools.sim.triton.faults import learner_frame, learner_line
from tools.sim.triton.turns.loops import LOOKED, Loop, Place
from tools.sim.triton.turns.schedule import Schedule

current: Schedule | None = None  # of the launch that runs now, if its programs are in flight together


def patch(interpreter: Any) -> None:
    """Wrap the operations of `InterpreterBuilder` once more. interpreter: triton.runtime.interpreter."""
    builder = interpreter.InterpreterBuilder
    load, store = builder.create_masked_load, builder.create_masked_store
    update, swap, barrier = builder.create_atomic_rmw, builder.create_atomic_cas, builder.create_barrier
    number = builder.create_get_program_id
    words = {each: name.lower() for name, each in interpreter._ir.MEM_SEMANTIC.__members__.items()}
    words = {each: {"acquire_release": "acq_rel"}.get(name, name) for each, name in words.items()}
    scopes = {each: name.lower() for name, each in interpreter._ir.MEM_SYNC_SCOPE.__members__.items()}
    lookers = [each for name, each in interpreter._ir.ATOMIC_OP.__members__.items() if name in ("ADD", "OR", "XOR")]

    def create_get_program_id(self: Any, axis: int) -> Any:
        memory.current.races.asked.add(axis)
        return number(self, axis)

    def create_masked_load(self: Any, pointers: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        is_volatile = named["is_volatile"] if named else rest[-1]
        if current is None and not is_volatile:
            return load(self, pointers, mask, *rest, **named)
        if not is_volatile:
            result = load(self, pointers, mask, *rest, **named)
        else:
            _before()
            memory.current.races.is_peek = True
            try:
                result = load(self, pointers, mask, *rest, **named)
            finally:
                memory.current.races.is_peek = False
            memory.current.races.look()
        if current is not None:
            _observe("look" if is_volatile else "load", pointers, mask, result.data)
        return result

    def create_masked_store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        memory.current.races.value = pointers, value, mask
        if current is None:
            return store(self, pointers, value, mask, *rest)
        before = _contents(pointers, mask)
        result = store(self, pointers, value, mask, *rest)
        _note_change(pointers, mask, before)
        return result

    def create_atomic_rmw(self: Any, operator: Any, pointers: Any, value: Any, mask: Any, *how: Any) -> Any:
        _before()
        races, before = memory.current.races, _contents(pointers, mask) if current is not None else None
        races.is_peek = looks_only = operator in lookers and not value.data.any()
        try:
            result = update(self, operator, pointers, value, mask, *how)
        finally:
            races.is_peek = False
        writes = not looks_only or words[how[0]] in ("release", "acq_rel")
        races.synchronise(writes, words[how[0]], scopes[how[1]])
        if current is not None:
            _observe("update", pointers, mask, result.data)
            _note_change(pointers, mask, before)
        return result

    def create_atomic_cas(self: Any, pointers: Any, expected: Any, value: Any, *how: Any) -> Any:
        _before()
        before = _contents(pointers, None) if current is not None else None
        result = swap(self, pointers, expected, value, *how)
        memory.current.races.synchronise(result.data.ravel() == expected.data.ravel(), words[how[0]], scopes[how[1]])
        if current is not None:
            _observe("swap", pointers, None, result.data)
            _note_change(pointers, None, before)
        return result

    def create_barrier(self: Any) -> Any:
        memory.current.races.now.meet()
        return barrier(self)

    wrapped = create_masked_load, create_masked_store, create_atomic_rmw, create_atomic_cas, create_barrier
    for method in (create_get_program_id, *wrapped):
        setattr(builder, method.__name__, method)


def result_dropped() -> None:
    """Nobody uses the result of the atomic that was just made."""
    if memory.current is not None:
        memory.current.races.drop()


def round_begins() -> None:
    """The condition of a `while` of the program that runs holds: it goes round once more. Raises Fault."""
    schedule, frame = current, learner_frame()
    if schedule is None or frame is None:
        return
    schedule.check()
    key = id(frame), frame.f_lineno
    loop = schedule.now.loops.get(key)
    if loop is None:
        schedule.now.loops[key] = Loop()
        return
    idle, settled = loop.next_round(frame)
    looked, loop.looked = loop.looked, {}
    if idle and (looked or settled):
        schedule.wait(looked, settled, loop.asks, frame.f_lineno)


def loop_ends() -> None:
    """The condition of a `while` does not hold."""
    frame = learner_frame()
    if current is not None and frame is not None:
        current.now.loops.pop((id(frame), frame.f_lineno), None)


def _before() -> None:
    if current is not None:
        current.pass_on()


def _array(mask: Any) -> Any:
    return mask if mask is None or isinstance(mask, np.ndarray) else mask.data


def _size(pointers: Any) -> int:
    return max(1, pointers.get_element_ty().primitive_bitwidth // 8)


def _existing(pointers: Any, mask: Any) -> np.ndarray:
    addresses, exists = pointers.data.view(np.uint64), _array(mask)
    return addresses.ravel() if exists is None or exists.all() else addresses[exists]


def _contents(pointers: Any, mask: Any) -> list | None:
    """What is in memory at these places; None where they are not all in one view."""
    existing = _existing(pointers, mask)
    if not existing.size:
        return []
    return memory.current.contents(existing, _size(pointers))


def _observe(what: str, pointers: Any, mask: Any, found: np.ndarray) -> None:
    """Tell the loops of the program that runs what it found in memory."""
    assert current is not None
    loops = current.now.loops
    if loops:
        existing = _existing(pointers, mask)
        key = hash((what, learner_line(), existing.tobytes(), found.tobytes()))
        places = [
            Place(view, each) for each in existing[:LOOKED].tolist() if (view := memory.current.arguments.at(each))
        ]
        for loop in loops.values():
            loop.observe(key, places, asks=what != "load")


def _note_change(pointers: Any, mask: Any, before: list | None) -> None:
    """Memory may have changed at these places; before: what was there."""
    assert current is not None
    after = _contents(pointers, mask)
    if before is not None and before == after:
        return
    for loop in current.now.loops.values():
        loop.changed = True
    existing = _existing(pointers, mask)
    current.changed(set(existing.tolist()) if existing.size <= LOOKED else None)
    if existing.size <= LOOKED:
        current.changers.update(dict.fromkeys(existing.tolist(), (current.now.number, learner_line())))
