"""The same snippets of host code as numba-cuda answered on an H200 (record.py): values, and kinds of exceptions."""

import json
import re
from pathlib import Path

import pytest

from tools.sim import cuda
from tools.tests.sim.cuda.host.record import answer, run
from tools.tests.sim.cuda.host.snippets import SNIPPETS

RECORDED = json.loads(Path(__file__).with_name("numba.json").read_text(encoding="utf-8"))["answers"]
EXCEPTION = re.compile(r"(\w*(?:Error|Fault|Refused|Unknown)): ")

REFUSED_EARLIER = "Refused by name, where Numba's type inference gives up"
CLEARER = "another class of exception says it more clearly"
CRASHES = "numba-cuda crashes"
DIFFERENT = {
    # name of the snippet: (how the simulator's answer begins, why it differs)
    "to_device of objects": ("TypeError", "numba-cuda copies addresses of Python objects"),
    "to_device of None": ("TypeError", "numba-cuda copies the address of None"),
    "an array index": ("TypeError", CLEARER),
    "a mask index": ("TypeError", CLEARER),
    "setting a text": ("TypeError", REFUSED_EARLIER),
    "setting a complex into floats": ("Refused", REFUSED_EARLIER),
    "a kernel that returns a value": ("Refused", REFUSED_EARLIER),
    "a kernel launched by a kernel": ("Refused", REFUSED_EARLIER),
    "a read-only array stored to": ("Fault", REFUSED_EARLIER),
    "a kernel given an array of objects": ("TypeError", REFUSED_EARLIER),
    "a kernel given an array of the other byte order": ("TypeError", CLEARER),
    "a kernel given a masked array": ("TypeError", CLEARER),
    "a kernel given a kernel": ("ValueError", CLEARER),
    "static and dynamic shared memory beyond 48 KB": ("Fault", "it names the array that no longer fits"),
    "a number for an array": ("TypeError", CRASHES),
    "too few for a signature": ("TypeError", CRASHES),
    "a kernel given a datetime": ("Unknown", "not simulated"),
    "a kernel given an array of texts": ("Unknown", "not simulated"),
    "a kernel given a record": ("Unknown", "not simulated"),
    "closed and used again": ("array([0, 1, 2])", "numba-cuda 0.30.4 does not come back from close()"),
}


def outcome(text: str) -> str:
    """The kind of an exception, whose words are the simulator's own; a value in full."""
    exception = EXCEPTION.match(text)
    return exception[1] if exception else text


@pytest.mark.parametrize("name", [name for name in SNIPPETS if name not in DIFFERENT])
def test_a_snippet_has_the_outcome_that_it_has_on_a_gpu(name):
    assert outcome(answer(cuda, SNIPPETS[name])) == outcome(RECORDED[name])


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_the_one_that_is_named(name):
    begins, _ = DIFFERENT[name]
    assert answer(cuda, SNIPPETS[name]).startswith(begins)
    assert not RECORDED[name].startswith(begins)


def test_every_recorded_answer_is_asked_for():
    assert set(RECORDED) == set(SNIPPETS)
    assert set(DIFFERENT) <= set(SNIPPETS)


WORDS_OF_NUMPY = {"to_device of a ragged list", "view as a larger dtype that does not fit"}


@pytest.mark.parametrize("name", sorted(SNIPPETS.keys() - WORDS_OF_NUMPY))
def test_the_words_of_an_exception_fit_on_the_screen(name):
    outcome = run(cuda, SNIPPETS[name])
    lines = str(outcome).splitlines() if isinstance(outcome, Exception) else []
    assert len(lines) <= 6
    assert [line for line in lines if len(line) > 80] == []
