"""Values on their way to another process and back: numbers, text, containers, arrays, given objects.

Never pickle: who decodes believes nothing, and whatever is wrong with what arrives, it is `Malformed`.
"""

from tools.wire.frames import Malformed, receive, send
from tools.wire.given import Recipe, builder
from tools.wire.kinds import cupy_of, extent, is_array, is_tensor
from tools.wire.values import End, Handle, Packet, decode, encode

__all__ = [
    "End",
    "Handle",
    "Malformed",
    "Packet",
    "Recipe",
    "builder",
    "cupy_of",
    "decode",
    "encode",
    "extent",
    "is_array",
    "is_tensor",
    "receive",
    "send",
]
