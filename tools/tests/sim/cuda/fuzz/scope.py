"""What the generator knows at one place of a kernel: which names may be read, and which threads come here together."""

from dataclasses import dataclass, field, replace

THREAD, WARP, BLOCK = range(3)  # a value, or a place, that differs between threads, warps, or only blocks


@dataclass(frozen=True)
class Variable:
    """level: among which threads it is the same. fixed: no statement may assign to it."""

    type: str
    level: int = THREAD
    fixed: bool = False


@dataclass(frozen=True)
class Array:
    """level: among which threads its elements are the same, if the index is."""

    dtype: str
    shape: tuple[int, ...]
    level: int = THREAD


@dataclass
class Scope:
    """level: who is here together. loop: the level that all of the innermost loop's body keeps, None outside of loops.

    room: how much deeper it may go. returns: the types that a device function returns; None in a kernel.
    """

    names: dict[str, Variable] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    level: int = BLOCK
    loop: int | None = None
    room: int = 3
    returns: tuple[str, ...] | None = None

    def inner(self, level: int, **changes) -> "Scope":
        """The scope of a block inside; what it learns stays there."""
        level = min(self.level, level)
        copies = {"names": dict(self.names), "arrays": dict(self.arrays)}
        return replace(self, level=level, room=self.room - 1, **copies, **changes)

    def readable(self, type_: str, level: int) -> list[str]:
        """Names of variables of that type that are the same among the threads of that level."""
        return [name for name, each in self.names.items() if each.type == type_ and each.level >= level]

    def assignable(self) -> list[str]:
        return [name for name, each in self.names.items() if not each.fixed and each.level <= self.level]
