"""cupy.random: NumPy's generators, so that the same seed gives other numbers than on a GPU."""

from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.ndarray import ndarray, on_device

FLOATS = tuple(
    """
    beta chisquare exponential f gamma gumbel laplace logistic lognormal normal pareto power rayleigh
    standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald
    weibull random random_sample
""".split()
)
WHOLE = ("binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "poisson", "zipf")


class _Numbers:
    """The part that RandomState and Generator share."""

    def _made(self, name: str, values: Any, dtype: Any) -> ndarray:
        made = on_device(np.array(values, dtype=dtype, order="C"))
        launches.library(f"cupy.random.{name}", [made])
        return made


def _distribution(name: str, default: Any) -> Any:
    def draw(self: Any, *args: Any, size: Any = None, dtype: Any = default, **named: Any) -> ndarray:
        if name in ("random", "random_sample", "standard_normal", "standard_exponential", "standard_cauchy"):
            size, args = (args[0], args[1:]) if args else (size, args)
        parameters = [each.elements if isinstance(each, ndarray) else each for each in args]
        return self._made(name, getattr(self._numpy, name)(*parameters, size=size, **named), dtype)

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


for _name, _default in {**dict.fromkeys(FLOATS, float), **dict.fromkeys(WHOLE, int)}.items():
    setattr(RandomState, _name, _distribution(_name, _default))
    if _name != "random_sample":
        setattr(Generator, _name, _distribution(_name, _default))


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
