"""The process of a unit as a copy of a stem: what it reads is recorded from its first import on."""

import importlib

from tools.selfcheck import recording


def main() -> None:
    recording.start()
    importlib.import_module("tools.selfcheck.unit").main()
