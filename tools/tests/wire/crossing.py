"""Helpers for these tests: a value sent over a wire within this process."""

import json

from hypothesis import strategies as st

from tools import wire

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.just(...)
    | st.builds(slice, st.none() | st.integers(), st.integers(), st.none()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inner, max_size=4)
    ),
    max_leaves=12,
)


def over_the_wire(packet: wire.Packet) -> tuple[bytes, list]:
    """Header and buffers of a packet after they were bytes in a stream."""
    stream = bytearray()
    wire.send(stream.extend, 7, packet.header, packet.buffers)
    number, header, buffers = wire.receive(reader(bytes(stream)))
    assert number == 7
    return header, buffers


def reader(stream: bytes):
    """What wire.receive reads from; EOFError when the stream ends too early."""
    place = 0

    def fill(view):
        nonlocal place
        if place + len(view) > len(stream):
            raise EOFError
        view[:] = stream[place : place + len(view)]
        place += len(view)

    return fill


def crossed(value):
    """What comes out where `value` went in."""
    return wire.decode(*over_the_wire(wire.encode(value))).value


def is_malformed(tree, arrays=(), regions=(), changed=(), buffers=(), **options) -> bool:
    """Whether the wire refuses a header with these contents."""
    fields = {"arrays": arrays, "regions": regions, "changed": changed}
    try:
        wire.decode(json.dumps([tree, fields]).encode(), list(buffers), **options)
    except wire.Malformed:
        return True
    return False
