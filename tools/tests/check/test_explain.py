"""Explaining a failure does not fail itself, and takes nobody else's exception for a simulator's."""

import sys
import types

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches


def test_a_function_without_a_file_is_judged_like_any_other(monkeypatch):
    """As at a prompt, or from `python -`: the file that its module names is not there."""
    module = types.ModuleType("typed_at_a_prompt")
    module.__file__ = "<stdin>"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec("def double(x):\n    return x + 1", vars(module))
    with pytest.raises(Mismatch, match="double"):
        assert_matches(module.double, np.arange(4.0), oracle=lambda x: 2 * x)


@pytest.mark.parametrize("name", ["Fault", "Refused"])
def test_a_learners_own_class_is_told_as_what_it_is(name):
    own = type(name, (Exception,), {"__module__": __name__})

    def broken(x):
        raise own("mine")

    with pytest.raises(Mismatch, match=rf"It raised test_explain\.{name}: mine"):
        assert_matches(broken, 1, oracle=lambda x: x)
