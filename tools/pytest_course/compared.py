"""Two lists, dicts or sets that an assertion compares: the first difference in words, in place of pytest's own."""

from collections.abc import Callable, Iterator
from typing import Any

from tools.check.show import literal, pair, shortened
from tools.words import quantity

BESIDE = 50  # columns of a container beside the one that it is compared with
VALUE = 40  # of a value in it, beside another,
ALONE = 60  # and alone


def told(got: Any, wanted: Any) -> list[str] | None:
    """Lines for `assert got == wanted`: both in short, then what differs; None for values of any other kind."""
    tell = TELLERS.get(type(got))
    if tell is None or type(wanted) is not type(got):
        return None
    try:
        return [" == ".join(pair(got, wanted, BESIDE)), *tell(got, wanted)]
    except Exception:  # of arrays in a list == says nothing that is true or false
        return None


def _dicts(got: dict, wanted: dict) -> Iterator[str]:
    for key in wanted | got:
        if key not in got:
            yield f"At {literal(key)}: nothing, wanted {shortened(wanted[key], ALONE)}."
        elif key not in wanted:
            yield f"At {literal(key)}: got {shortened(got[key], ALONE)}, wanted nothing."
        elif got[key] != wanted[key]:
            yield _of_two(literal(key), got[key], wanted[key])
        else:
            continue
        return


def _sequences(got: list | tuple, wanted: list | tuple) -> Iterator[str]:
    for place, (mine, right) in enumerate(zip(got, wanted)):
        if mine != right:
            yield _of_two(f"[{place}]", mine, right)
            break
    if len(got) != len(wanted):
        yield f"It has {quantity(len(got), 'entry')}, wanted {len(wanted)}."
    if len(got) > len(wanted) and got[: len(wanted)] == wanted:
        yield f"The first that is too many: {shortened(got[len(wanted)], ALONE)}."
    if len(got) < len(wanted) and wanted[: len(got)] == got:
        yield f"The first that is left out: {shortened(wanted[len(got)], ALONE)}."


def _sets(got: set | frozenset, wanted: set | frozenset) -> Iterator[str]:
    for words, those in ("Too many", got - wanted), ("Left out", wanted - got):
        if those:
            yield f"{words}: {shortened(sorted(those, key=literal), ALONE)[1:-1]}."


def _of_two(place: str, got: object, wanted: object) -> str:
    mine, right = pair(got, wanted, VALUE)
    return f"At {place}: got {mine}, wanted {right}."


TELLERS: dict[type, Callable] = {dict: _dicts, list: _sequences, tuple: _sequences, set: _sets, frozenset: _sets}
