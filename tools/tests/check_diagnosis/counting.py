"""Counters of made-up launches."""

from tools.sim.counters import Counters, Counts, Launch, Line, Warps


def counters(*launches: Launch, library_operations=()) -> Counters:
    made = Counters(library_operations=list(library_operations))
    for launch in launches:
        made.add(launch)
    return made


def launch(programs: int = 6, sectors: int = 625) -> Launch:
    source = "x = tl.load(x_ptr + mine, mask=exists)  # all of it"
    line = Line("week1/day4/vector_add.py", 63, source, "load", Counts(bytes_loaded=20_000, sectors=sectors))
    return Launch("add_kernel", (programs,), line.counts + Counts(programs=programs), (line,))


def cuda_launch() -> Launch:
    """A strided load, a transposing store to shared memory, and an if that parts each warp."""
    lines = (
        Line("day.py", 9, "if i % 2:", "branch", Counts(warps=Warps(branches=64, divergent_branches=32))),
        Line(
            "day.py",
            10,
            "x = a[i * 8]",
            "load",
            Counts(bytes_loaded=2048, sectors=512, warps=Warps(requests=32, instructions=32, lanes=512)),
        ),
        Line(
            "day.py",
            11,
            "out[i] = x",
            "store",
            Counts(bytes_stored=2048, sectors=128, warps=Warps(requests=32, instructions=32, lanes=1024)),
        ),
        Line(
            "day.py",
            12,
            "tile[x, y] = x",
            "shared store",
            Counts(warps=Warps(shared_requests=32, wavefronts=1024, conflicts=992, instructions=32, lanes=1024)),
        ),
    )
    return Launch("walk", (8,), sum((line.counts for line in lines), Counts(programs=8)), lines)


def of_lines(*lines: Line) -> Counters:
    return counters(Launch("walk", (1,), sum((line.counts for line in lines), Counts(programs=1)), lines))
