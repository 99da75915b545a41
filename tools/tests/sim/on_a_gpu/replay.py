"""Recorded launches on a real GPU, in processes of a few with a time limit for each, compared with what was simulated.

    python -m tools.tests.sim.on_a_gpu.replay FOLDER outcomes.json [SECONDS]

FOLDER: of record.py. SECONDS: after which what has not run is left out. Needs CuPy, numba-cuda, PyTorch, Triton.
"""

import collections
import itertools
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

KINDS = ("CUDA C++", "Numba CUDA", "Triton")
AT_ONCE = 14  # processes
TOGETHER = 6  # launches of one process
PATIENCE = 45.0  # seconds of one launch, its compilation included


def main(folder: str, file: str, seconds: float) -> None:
    """Each kind in a process of its own, which has imported what it needs."""
    outcomes, end = [], time.monotonic() + seconds
    for number, kind in enumerate(KINDS):
        share = (end - time.monotonic()) / (len(KINDS) - number)
        part = Path(file).with_suffix(f".part{number}")
        subprocess.run([sys.executable, "-m", __spec__.name, "--kind", kind, folder, str(part), str(share)])
        outcomes += json.loads(part.read_text()) if part.exists() else []
        part.unlink(missing_ok=True)
    Path(file).write_text(json.dumps(outcomes, indent=1) + "\n")
    table(outcomes)


def table(outcomes: list[dict]) -> None:
    """A line for each file of tests, and one for each launch that differs."""
    counts: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for each in outcomes:
        counts[each["test"].partition("::")[0].removeprefix("tools/tests/sim/"), each["kind"]][each["outcome"]] += 1
    for (name, _), count in counts.items():
        print(f"{name:50}", ", ".join(f"{number} {what}" for what, number in sorted(count.items())))
    for each in outcomes:
        if each["outcome"] != "equal":
            print(
                each["test"].rpartition("/")[2], each["kernel"], each["outcome"], each.get("how", "")[:300], sep=" | "
            )


def all_of(kind: str, folder: str, file: str, seconds: float) -> None:
    """Replay what is of this kind. A process takes several of one file, and none after one that went wrong."""
    replay, end = prepared(kind), time.monotonic() + seconds
    waiting, running, outcomes = batches(kind, folder), {}, []
    while (waiting and time.monotonic() < end) or running:
        while waiting and len(running) < AT_ONCE and time.monotonic() < end:
            batch = Batch(waiting.pop(0), replay)
            running[batch.pipe] = batch
        ready = select.select(list(running), [], [], 0.2)[0]
        for batch in list(running.values()):
            done = batch.read() if batch.pipe in ready else batch.late()
            outcomes += batch.told()
            if done:
                running.pop(batch.pipe)
                waiting += [[each] for each in batch.end()]
                outcomes += batch.told()
    Path(file).write_text(json.dumps(sorted(outcomes, key=lambda each: each["test"])))


def batches(kind: str, folder: str) -> list[list[dict]]:
    """The launches of this kind, a few of one file together; files in turn, so that a limit of time cuts off of all."""
    of_files = collections.defaultdict(list)
    for path in sorted(Path(folder).iterdir()):
        launch = pickle.loads(path.read_bytes())
        if launch["kind"] == kind:
            of_files[launch["test"].partition("::")[0]].append(launch)
    cut = [[each[at : at + TOGETHER] for at in range(0, len(each), TOGETHER)] for each in of_files.values()]
    return [batch for turn in itertools.zip_longest(*cut) for batch in turn if batch]


class Batch:
    """A process that replays launches one after the other and writes a line for each."""

    def __init__(self, launches: list[dict], replay: Callable[[dict], dict]) -> None:
        self.left, self.outcomes, self.text, self.until = launches, [], b"", time.monotonic() + PATIENCE
        self.pipe, write = os.pipe()
        self.any = False
        self.process = os.fork()
        if self.process:
            os.close(write)
            return
        for launch in launches:
            outcome = _outcome(replay, launch)
            os.write(write, json.dumps(outcome).encode()[:60_000] + b"\n")
            if outcome["outcome"] == "error":
                break
        os._exit(0)

    def read(self) -> bool:
        """Take what was written; has it come to its end?"""
        more = os.read(self.pipe, 65536)
        *lines, self.text = (self.text + more).split(b"\n")
        for line in lines:
            self._put(json.loads(line))
            self.until = time.monotonic() + PATIENCE
        return not more

    def late(self) -> bool:
        if time.monotonic() < self.until:
            return False
        self._put({"outcome": "timeout"})
        return True

    def end(self) -> list[dict]:
        """What is left to others. One that told nothing has crashed, or came after an error."""
        os.close(self.pipe)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        if not self.any and self.left:
            self._put({"outcome": "crash"})
        return self.left

    def _put(self, outcome: dict) -> None:
        launch, self.left, self.any = self.left[0], self.left[1:], True
        self.outcomes.append({name: launch[name] for name in ("test", "kind", "kernel")} | outcome)

    def told(self) -> list[dict]:
        """The outcomes since it was last asked."""
        found, self.outcomes = self.outcomes, []
        return found


def _outcome(replay: Callable[[dict], dict], launch: dict) -> dict:
    try:
        return replay(launch)
    except BaseException as error:  # whatever it is, it is the outcome
        return {"outcome": "error", "how": f"{type(error).__name__}: {error}"[-1500:]}


def prepared(kind: str) -> Callable[[dict], dict]:
    from tools.tests.sim.on_a_gpu import raw, real_numba, real_triton

    module = {"CUDA C++": raw, "Numba CUDA": real_numba, "Triton": real_triton}[kind]
    module.prepare()
    return module.replay


if __name__ == "__main__":
    if sys.argv[1:2] == ["--kind"]:
        all_of(sys.argv[2], sys.argv[3], sys.argv[4], float(sys.argv[5]))
    elif sys.argv[2:]:
        main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if sys.argv[3:] else 1e6)
    else:
        sys.exit(__doc__)
