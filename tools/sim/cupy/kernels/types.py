"""C++'s rules about types: names, promotions, and the type that two operands meet in.

A type is a NumPy dtype. char is signed and long has 64 bits, as in CUDA on Linux. float16 and bfloat16 compute as
float, as CuPy's classes of these names do.
"""

import numpy as np

WORDS = frozenset("unsigned signed long int short char float double bool".split())
NAMED = {
    "size_t": np.uint64,
    "ptrdiff_t": np.int64,
    "float16": np.float16,
    "complex<float>": np.complex64,
    "complex<double>": np.complex128,
}
ABSENT = {  # which other headers of C++ declare, but CuPy's do not
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned int",
    "uint64_t": "unsigned long long",
    "uint": "unsigned int",
    "ushort": "unsigned short",
    "ulong": "unsigned long",
}
SIMPLE = {"bool": np.bool_, "float": np.float32, "double": np.float64}


def named(name: str) -> np.dtype | None:
    """The type of this name, as "unsigned int" or "size_t"; None if it is none."""
    name = name.removeprefix("thrust::")
    if name in NAMED:
        return np.dtype(NAMED[name])
    if name in SIMPLE:
        return np.dtype(SIMPLE[name])
    words = name.split()
    if not words or not WORDS.issuperset(words) or set(words) & set(SIMPLE):
        return None
    size = 1 if "char" in words else 2 if "short" in words else 8 if "long" in words else 4
    return np.dtype(f"{'u' if 'unsigned' in words else 'i'}{size}")


def promoted(dtype: np.dtype) -> np.dtype:
    """The type that an operand of this one computes as."""
    if dtype.kind in "biu" and dtype.itemsize < 4:
        return np.dtype(np.int32)
    return np.dtype(np.float32) if is_half(dtype) else dtype


def is_half(dtype: np.dtype) -> bool:
    """Is it one of the types of 16 bits that are classes to C++?"""
    return dtype == np.float16 or dtype.name == "bfloat16"


def common(one: np.dtype, other: np.dtype) -> np.dtype:
    """The type that two operands are converted to before an operation ("usual arithmetic conversions")."""
    one, other = promoted(one), promoted(other)
    for kind in "cf":
        if kind in (one.kind, other.kind):
            fitting = [each for each in (one, other) if each.kind == kind]
            wide = max(each.itemsize for each in fitting)
            if kind == "c" and np.float64 in (one, other):
                wide = 16
            return np.dtype(f"{kind}{wide}")
    size = max(one.itemsize, other.itemsize)
    unsigned = any(each.kind == "u" and each.itemsize == size for each in (one, other))
    return np.dtype(f"{'u' if unsigned else 'i'}{size}")


def literal(text: str) -> np.generic:
    """The value of a number as it is written: 1 is int, 1u unsigned, 1ll long long, 1.0 double, 1.0f float."""
    if text[:2].lower() != "0x" and set(text) & set(".eE"):
        number = text.rstrip("fFlL")
        return np.float32(number) if text[-1] in "fF" else np.float64(number)
    digits = text.rstrip("uUlL")
    suffix = text[len(digits) :].lower()
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    value = int(digits, 8) if octal else int(digits, 0)
    decimal = digits[0] != "0" or digits == "0"
    for kind, size in (("i", 4), ("u", 4), ("i", 8), ("u", 8)):
        if size == 4 and "l" in suffix or kind == "i" and "u" in suffix:
            continue
        if kind == "u" and "u" not in suffix and decimal:
            continue
        if value <= np.iinfo(f"{kind}{size}").max:
            return np.dtype(f"{kind}{size}").type(value)
    raise OverflowError(text)
