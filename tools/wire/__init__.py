"""Values on their way to another process and back: numbers, text, containers, arrays, given objects.

Never pickle: who decodes believes nothing, and whatever is wrong with what arrives, it is `Malformed`.
"""

from tools.wire.arrays import is_array, is_tensor
from tools.wire.frames import Malformed, receive, send
from tools.wire.given import Recipe, builder
from tools.wire.values import End, Handle, Packet, decode, encode

__all__ = [
    "End", "Handle", "Malformed", "Packet", "Recipe", "builder", "decode", "encode", "is_array", "is_tensor",
    "receive", "send",
]
