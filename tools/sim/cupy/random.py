"""cupy.random: NumPy's generators, so that the same seed gives other numbers than on a GPU."""

from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.ndarray import ndarray, on_device

FLOATS = (  # by how many parameters come before the size
    "random random_sample standard_cauchy standard_exponential standard_normal".split(),
    "chisquare exponential pareto power rayleigh standard_gamma standard_t weibull".split(),
    "beta f gamma gumbel laplace logistic lognormal normal uniform vonmises wald".split(),
    ["triangular"],
)
WHOLE: tuple[list[str], ...] = (
    [],
    ["geometric", "logseries", "poisson", "zipf"],
    ["binomial", "negative_binomial"],
    ["hypergeometric"],
)


class _Numbers:
    """The part that RandomState and Generator share."""

    def _made(self, name: str, values: Any, dtype: Any) -> ndarray:
        made = on_device(np.array(values, dtype=dtype, order="C"))
        launches.library(f"cupy.random.{name}", [made])
        return made


def _distribution(name: str, count: int, default: Any) -> Any:
    """The method of this name. count: how many parameters come before size and dtype."""

    def draw(self: Any, *args: Any, **named: Any) -> ndarray:
        behind = dict(zip(("size", "dtype"), args[count:]))
        if len(args) > count + 2 or behind.keys() & named.keys():
            raise TypeError(f"{name}() takes {count} parameters, then size and dtype, each of them once")
        named |= behind
        dtype = named.pop("dtype", default)
        parameters = [each.elements if isinstance(each, ndarray) else each for each in args[:count]]
        return self._made(name, getattr(self._numpy, name)(*parameters, **named), dtype)

    draw.__name__ = name
    return draw


class RandomState(_Numbers):
    """Draws from distributions. seed: a number, or None for another one each time."""

    def __init__(self, seed: Any = None, method: Any = None) -> None:
        self._numpy = np.random.RandomState(seed)

    def seed(self, seed: Any = None) -> None:
        self._numpy.seed(seed)

    def rand(self, *size: Any, dtype: Any = float) -> ndarray:
        return self._made("rand", self._numpy.random_sample(size), dtype)

    def randn(self, *size: Any, dtype: Any = float) -> ndarray:
        return self._made("randn", self._numpy.standard_normal(size), dtype)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> ndarray:
        return self._made("randint", self._numpy.randint(low, high, size, np.dtype(dtype)), dtype)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> ndarray:
        pool = a.elements if isinstance(a, ndarray) else a
        values = np.asarray(self._numpy.choice(pool, size, replace, getattr(p, "elements", p)))
        return self._made("choice", values, values.dtype)

    def permutation(self, a: Any) -> ndarray:
        values = self._numpy.permutation(a.elements if isinstance(a, ndarray) else a)
        return self._made("permutation", values, values.dtype)

    def shuffle(self, a: ndarray) -> None:
        if not isinstance(a, ndarray):
            raise TypeError("The array must be cupy.ndarray")
        launches.library("cupy.random.shuffle", [a], work=lambda: self._numpy.shuffle(a.elements))


class Generator(_Numbers):
    """As default_rng makes it."""

    def __init__(self, seed: Any = None) -> None:
        self._numpy = np.random.default_rng(seed)

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> ndarray:
        return self._made("integers", self._numpy.integers(low, high, size, np.dtype(dtype), endpoint), dtype)


for _groups, _default in ((FLOATS, float), (WHOLE, int)):
    for _count, _names in enumerate(_groups):
        for _name in _names:
            setattr(RandomState, _name, _distribution(_name, _count, _default))
            if _name != "random_sample":
                setattr(Generator, _name, _distribution(_name, _count, _default))


def default_rng(seed: Any = None) -> Generator:
    """A new generator."""
    return Generator(seed)


_state = RandomState()


def get_random_state() -> RandomState:
    """The one that the module's functions draw from."""
    return _state


def set_random_state(rs: RandomState) -> None:
    global _state
    _state = rs


def seed(seed: Any = None) -> None:
    """Begin anew."""
    _state.seed(seed)


def __getattr__(name: str) -> Any:
    name = {"ranf": "random_sample", "sample": "random_sample"}.get(name, name)
    if not name.startswith("_") and hasattr(RandomState, name):
        return lambda *args, **named: getattr(_state, name)(*args, **named)
    raise AttributeError(f"module 'cupy.random' has no attribute {name!r}")
