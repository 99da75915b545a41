"""A reply shows what happened to the arrays and the given objects of its request, in the sender's own."""

import weakref

import numpy as np
import pytest
import torch

from tools import wire
from tools.tests.wire.crossing import is_malformed, over_the_wire
from tools.wire.given import rebuild


def answered(value, work):
    """What `work` makes of a value on the other side, as the reply shows it to the sender."""
    request = wire.encode(value)
    there = wire.decode(*over_the_wire(request))
    there.memory.remember()
    reply = wire.encode(work(there.value), reply_to=there)
    return wire.decode(*over_the_wire(reply), reply_to=request).value


def test_what_the_other_side_writes_arrives_in_the_senders_array():
    guarded = np.zeros(8)

    def write(middle):
        middle[...] = 1
        middle.base.view(float)[0] = 7  # beside the view, as a kernel without a mask would

    assert answered(guarded[2:4], write) is None
    assert guarded.tolist() == [7, 0, 1, 1, 0, 0, 0, 0]


def test_only_memory_that_changed_comes_back():
    first, second = np.zeros(1000), np.zeros(2)
    there = wire.decode(*over_the_wire(wire.encode((first, second))))
    there.memory.remember()
    there.value[1][0] = float("nan")
    assert [buffer.nbytes for buffer in wire.encode(None, reply_to=there).buffers] == [16]
    there.memory.remember()
    assert wire.encode(None, reply_to=there).buffers == []  # NaN is what it was


@pytest.mark.parametrize("make", [lambda: np.arange(4.0), lambda: torch.arange(4.0)], ids=["NumPy", "torch"])
def test_an_argument_and_a_view_of_it_come_back_as_such(make):
    sent = make()
    whole, part = answered(sent, lambda there: (there, there[1:3]))
    assert whole is sent
    part[0] = 9
    assert sent[1] == 9


def test_a_view_that_came_back_keeps_the_senders_memory_alive():
    sent = np.arange(1000.0)
    alive = weakref.ref(sent)
    part = answered(sent, lambda there: there[500:])
    del sent
    assert alive() is not None and part[0] == 500


def test_a_reply_cannot_write_into_read_only_memory():
    array = np.frombuffer(b"constant", np.uint8)
    request = wire.encode(array)
    options = {"changed": [0], "buffers": [np.zeros(8, np.uint8)], "reply_to": request}
    assert is_malformed(None, **options) and array.tobytes() == b"constant"


def test_a_reply_cannot_write_more_than_there_is():
    request = wire.encode(np.zeros(1))
    assert is_malformed(None, changed=[0], buffers=[np.zeros(9, np.uint8)], reply_to=request)
    assert not is_malformed(None, changed=[0], buffers=[np.ones(8, np.uint8)], reply_to=request)


# Given objects -----------------------------------------------------------------------------------


class Counter:
    def __init__(self, start):
        self.count = start

    def step(self, by=1):
        self.count += by
        return self.count

    def state(self):
        return {"count": self.count}

    def restore(self, state):
        self.count = state["count"]


@wire.builder
def counter(start):
    return Counter(start)


class Trusting(wire.End):
    """An end that builds what arrives, as the lesson's process does."""

    def __init__(self):
        self.recipes = []

    def build(self, recipe):
        self.recipes.append(recipe)
        return rebuild(recipe)


def test_a_given_object_is_built_on_the_other_side_and_its_state_comes_back():
    here, there = counter(5), Trusting()
    here.step()
    request = wire.encode((here, here.step))
    arrived = wire.decode(request.header, request.buffers, there)
    other, step = arrived.value
    assert [recipe.args for recipe in there.recipes] == [(5,)] and other is not here and other.count == 6
    assert step(10) == other.count == 16
    reply = wire.encode(list(arrived.given.values()), reply_to=arrived)
    assert wire.decode(reply.header, reply.buffers, reply_to=request).value == [here]
    assert here.count == 16


def test_a_given_object_is_plain_to_its_own_side():
    assert type(counter(2)) is Counter and counter(2).step() == 3


def test_a_reply_can_neither_build_nor_reach_into_given_objects():
    here = counter(5)
    request = wire.encode(here)
    number, state = here._recipe.number, ["dict", "count", 1]
    how = ["tuple", "os", "system", ["tuple", "true"], ["dict"], 99]
    assert is_malformed(["given", 99, None, state, how], reply_to=request)
    assert is_malformed(["given", number, "__class__", state, None], reply_to=request)
    assert is_malformed(["given", number, None, ["list"], None], reply_to=request)
