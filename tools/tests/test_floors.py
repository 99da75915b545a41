"""Rooms stand on floors, and a room imports only from floors below its own (tools/__init__.py lists them)."""

import ast

import pytest

from tools import ROOT

FLOORS = [
    {"marker", "processes", "words", "requirements"},
    {"models"},
    {"sim", "compiler"},
    {"gpu"},
    {"wire", "worker"},
    {"check", "doctor"},
    {"course", "draw"},
    {"pytest_course", "bench", "selfcheck", "notebook", "report"},
    {"cli", "grade"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
FILES = [file for file in sorted((ROOT / "tools").rglob("*.py")) if "tests" not in file.relative_to(ROOT).parts]
# The wire is the ground floor of the worker; they share a number because they are one thing in two rooms.
TOGETHER = {("worker", "wire")}


def room_of(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if parts[0] == "tools" and len(parts) > 1 else None


def imported_rooms(file) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        rooms.update(room for name in names if (room := room_of(name)) in FLOOR)
    return rooms


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_room_imports_only_from_floors_below_its_own(file):
    own = room_of(".".join(file.relative_to(ROOT).with_suffix("").parts))
    higher = {
        room for room in imported_rooms(file) - {own} if FLOOR[room] >= FLOOR[own] and (own, room) not in TOGETHER
    }
    assert not higher, f"{own} is on floor {FLOOR[own]}; it imports {', '.join(sorted(higher))}"


def test_every_room_has_a_floor():
    rooms = {room_of(".".join(file.relative_to(ROOT).with_suffix("").parts)) for file in FILES} - {"__init__", None}
    assert rooms <= set(FLOOR)
