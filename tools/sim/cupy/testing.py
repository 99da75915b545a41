"""cupy.testing: NumPy's assertions, for arrays wherever they lie."""

from typing import Any

import numpy as np

from tools.sim.cupy.functions.transfers import asnumpy

NAMES = """
    assert_allclose assert_array_equal assert_array_almost_equal assert_array_almost_equal_nulp assert_array_less
    assert_array_max_ulp
""".split()


def _assertion(name: str) -> Any:
    def check(actual: Any, desired: Any, *args: Any, **named: Any) -> Any:
        return getattr(np.testing, name)(asnumpy(actual), asnumpy(desired), *args, **named)

    check.__name__ = name
    return check


globals().update({name: _assertion(name) for name in NAMES})


def assert_array_list_equal(xlist: Any, ylist: Any, err_msg: Any = "", verbose: bool = True) -> None:
    """Lists of as many arrays, equal one by one."""
    assert len(xlist) == len(ylist), f"{len(xlist)} arrays, and not {len(ylist)}"
    for actual, desired in zip(xlist, ylist):
        np.testing.assert_array_equal(asnumpy(actual), asnumpy(desired), err_msg, verbose)
