"""Operations that the threads of a warp or a block perform together, in plain numbers."""

from tools.tests.sim.cuda.fuzz.scalars import Undefined, convert
from tools.tests.sim.cuda.fuzz.tree import Operation

ALL = 0xFFFFFFFF


def mask(operation: Operation, arguments: tuple) -> int:
    """The lanes that a thread names: the first argument of every operation of a warp; all, where syncwarp has none."""
    return arguments[0] & ALL if arguments else ALL


def perform(operation: Operation, arguments: dict[int, tuple]) -> dict[int, object]:
    """arguments: of each lane that takes part. Gives what each receives."""
    if operation.name == "syncwarp":
        return dict.fromkeys(arguments)
    if operation.name.startswith("shfl"):
        return {lane: _shuffled(operation, lane, arguments) for lane in arguments}
    values = {lane: argument[1] for lane, argument in arguments.items()}
    if operation.name == "match_any_sync":
        return {lane: _set(other for other in values if values[other] == values[lane]) for lane in values}
    if operation.name == "match_all_sync":
        same = len(set(values.values())) == 1
        return dict.fromkeys(values, (_set(values) if same else 0, same))
    true = [lane for lane, value in values.items() if value]
    together = {
        "ballot_sync": _set(true),
        "any_sync": bool(true),
        "all_sync": len(true) == len(values),
        "eq_sync": len(true) in (0, len(values)),
    }
    return dict.fromkeys(values, together[operation.name])


def _set(lanes) -> int:
    """As an int32, which is what Numba says a ballot is."""
    return convert("int32", sum(1 << lane for lane in lanes))


def _shuffled(operation: Operation, lane: int, arguments: dict[int, tuple]):
    _, own, along = arguments[lane]
    source = {
        "shfl_sync": along % 32,
        "shfl_up_sync": lane - along,
        "shfl_down_sync": lane + along,
        "shfl_xor_sync": lane ^ along,
    }[operation.name]
    if not 0 <= source < 32:
        return own
    if source not in arguments:
        raise Undefined(f"lane {lane} asks lane {source}, which takes no part")
    return arguments[source][1]


def of_block(operation: Operation, arguments: list[tuple]):
    """What a barrier gives to every thread: of the predicates, where it takes some."""
    true = [bool(argument[0]) for argument in arguments if argument]
    return {
        "syncthreads": None,
        "syncthreads_count": sum(true),
        "syncthreads_and": int(all(true)),
        "syncthreads_or": int(any(true)),
    }[operation.name]
