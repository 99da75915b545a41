"""Loads and stores with a hint for the caches: cuda.ldcg(x, i), cuda.stcs(x, i, value). The values are those of x[i].

Caches are not simulated, so that a hint changes no figure: sectors are counted before any cache.
"""

from typing import Any

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.run.intrinsic import Intrinsic, intrinsic
from tools.sim.cuda.run.values import NUMBER


def _load(name: str) -> Intrinsic:
    def function(array: Array, index: Any) -> Any:
        value = _checked(name, array).load(index)
        if not isinstance(value, NUMBER):
            raise Refused(f"cuda.{name} loads one number, and needs an index for each axis.")
        return value

    return intrinsic(function, name=f"cuda.{name}")


def _store(name: str) -> Intrinsic:
    def function(array: Array, index: Any, value: Any) -> None:
        _checked(name, array).store(index, value)

    return intrinsic(function, name=f"cuda.{name}")


def _checked(name: str, array: Any) -> Array:
    if not isinstance(array, Array):
        raise Refused(f"cuda.{name} takes an array and an index.")
    return array


ldca, ldcg, ldcs, ldlu, ldcv = map(_load, ("ldca", "ldcg", "ldcs", "ldlu", "ldcv"))
stcg, stcs, stwb, stwt = map(_store, ("stcg", "stcs", "stwb", "stwt"))
