"""Whatever is wrong with what arrives, the wire says Malformed and does nothing else."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools import wire
from tools.tests.wire.crossing import PLAIN, is_malformed, reader

TAGS = ["tuple", "dict", "slice", "array", "given", "handle", "float", "scalar", "dtype", "torch dtype"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(TAGS),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)
EIGHT = np.zeros(8, np.uint8)


@pytest.mark.parametrize(
    "array",
    [
        ["numpy", "<f8", [2], [8], 0, 0, True],
        ["numpy", "<f8", [1], [8], 0, 1, True],
        ["numpy", "<f8", [1], [8], 0, -8, True],
        ["numpy", "<f8", [2], [-8], 0, 0, True],
        ["numpy", "<f8", [2**40], [0], 0, 0, True],
        ["numpy", "<f8", [-1], [8], 0, 0, True],
        ["numpy", "<f8", [1.0], [8], 0, 0, True],
        ["numpy", "<f8", [1], [], 0, 0, True],
        ["numpy", "<f8", [1], [8], 1, 0, True],
        ["numpy", "|O", [1], [8], 0, 0, True],
        ["numpy", "object", [1], [8], 0, 0, True],
        ["numpy", "finfo", [1], [8], 0, 0, True],
        ["numpy", "i4,i4", [1], [8], 0, 0, True],
        ["torch", "float32", [3], [4], 0, 0, False],
        ["torch", "float32", [2], [-4], 0, 4, False],
        ["torch", "float32", [1], [4], 0, 2, False],
        ["torch", "load", [1], [4], 0, 0, False],
        ["numpy"],
        None,
    ],
    ids=str,
)
def test_an_array_that_could_not_be_is_malformed(array):
    assert is_malformed(["array", 0], [array], ["cpu"], buffers=[EIGHT.copy()])


def test_bounds_are_checked_before_an_array_is_made():
    described = [["torch", "float32", [3], [4], 0, 0, False]]
    fields = {"regions": ["cpu"], "changed": [], "arrays": described}
    with pytest.raises(wire.Malformed, match="reaches beyond its memory"):
        wire.decode(json.dumps([None, fields]).encode(), [EIGHT.copy()])


def test_an_array_that_can_be_is_not_malformed():
    array = ["numpy", "<f8", [1], [8], 0, 0, True]
    assert not is_malformed(["array", 0], [array], ["cpu"], buffers=[EIGHT.copy()])


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"null",
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"[NaN, {}]",
        b"[1" + b"0" * 10_000 + b", {}]",
        b'["' + b"x" * 100,
    ],
    ids=lambda header: header[:12].decode("latin-1"),
)
def test_a_header_that_is_none_is_malformed(header):
    with pytest.raises(wire.Malformed):
        wire.decode(header, [])


@pytest.mark.parametrize(
    "tree",
    [
        [],
        ["nonsense"],
        ["float"],
        ["float", "0.x"],
        ["float", 1],
        ["int", "zz"],
        ["dict", 1],
        ["dict", ["list"], 1],
        ["slice", 1, 2, 3, 4],
        ["array", 0],
        ["array", "x"],
        ["scalar", "<f8", "00"],
        ["dtype", "|O"],
        ["type", "object"],
        ["torch dtype", "load"],
        ["handle", "x", "y"],
        ["handle", 1, 2],
        ["function", "f"],
        {"a": 1},
        1.5,
        ["bytes", "0"],
        [["list"], 1],
        [None],
        ["given", 1, None, None, None],
    ],
    ids=str,
)
def test_a_tree_that_is_none_is_malformed(tree):
    assert is_malformed(tree)


def test_deep_nesting_is_malformed():
    tree = ["list"]
    for _ in range(101):
        tree = ["list", tree]
    assert is_malformed(tree) and not is_malformed(tree[1])


def test_buffers_must_be_as_many_as_regions():
    assert is_malformed(None, regions=["cpu"]) and is_malformed(None, buffers=[EIGHT])
    assert is_malformed(None, regions=["moon"], buffers=[EIGHT])


@settings(max_examples=300)
@given(JSON, JSON)
def test_no_header_at_all_makes_anything_but_malformed(tree, fields):
    for header in ([tree, fields], [tree, {"arrays": fields, "regions": [], "changed": []}]):
        try:
            wire.decode(json.dumps(header).encode(), [])
        except wire.Malformed:
            pass


@settings(max_examples=200)
@given(PLAIN, st.data())
def test_a_damaged_header_makes_nothing_but_malformed(value, data):
    header = bytearray(wire.encode([value, np.zeros(2)]).header)
    header[data.draw(st.integers(0, len(header) - 1))] = data.draw(st.integers(0, 255))
    try:
        wire.decode(bytes(header), [np.zeros(16, np.uint8)])
    except wire.Malformed:
        pass


def prelude(magic=b"gpu1", number=1, header=0, count=0, lengths=()):
    return struct.pack("<4sQII", magic, number, header, count) + struct.pack(f"<{len(lengths)}Q", *lengths)


@pytest.mark.parametrize(
    "stream",
    [
        prelude(magic=b"HTTP"),
        prelude(header=2**26 + 1),
        prelude(count=2**16 + 1),
        prelude(count=2, lengths=[3 * 2**30, 1]),
        prelude(count=1, lengths=[2**63]),
        b"A" * 100,
        b"\0" * 100,
    ],
    ids=["magic", "header", "count", "total", "length", "text", "zeros"],
)
def test_a_frame_that_cannot_be_is_malformed_before_it_is_read(stream):
    with pytest.raises(wire.Malformed):
        wire.receive(reader(stream))


def test_a_frame_that_ends_early_is_never_half_believed():
    stream = bytearray()
    packet = wire.encode([np.arange(3.0), "text"])
    wire.send(stream.extend, 1, packet.header, packet.buffers)
    for length in range(0, len(stream), 7):
        with pytest.raises(EOFError):
            wire.receive(reader(bytes(stream[:length])))
