"""Self-tests in processes of their own: a library that crashes or hangs spoils no answer but its own."""

import sys
from collections.abc import Mapping, Sequence

from tools.doctor.subprocesses import ask

SECONDS = 30.0  # for the tests of one process; a cold disk takes ten to import PyTorch


def answers(names: Sequence[str], environment: Mapping[str, str], seconds: float = SECONDS) -> dict[str, str]:
    """The answer of each of these self-tests. One that ends its process says how; those after it get another one."""
    found: dict[str, str] = {}
    while left := [name for name in names if name not in found]:
        reply = ask([sys.executable, "-m", "tools.doctor.self_tests", *left], seconds, environment=environment)
        lines = (line.split("\t", 1) for line in reply.text.splitlines() if "\t" in line)
        found |= {name: said for name, said in lines if name in left}
        if silent := next((name for name in left if name not in found), None):
            found[silent] = _ended(reply.code, seconds)
    return found


def _ended(code: int | None, seconds: float) -> str:
    if code is None:
        return f"nothing for {seconds:.0f} s"
    return f"nothing, its process was ended by signal {-code}" if code < 0 else f"nothing, exit status {code}"
