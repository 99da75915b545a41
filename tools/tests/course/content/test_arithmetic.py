"""Numbers as people write them are read exactly, and nothing else is."""

import time
from fractions import Fraction

import pytest

from tools.course.content.arithmetic import value


@pytest.mark.parametrize(
    "text, number",
    [
        ("12", 12),
        (" 12 ", 12),
        ("-12", -12),
        ("+3", 3),
        (".5", Fraction(1, 2)),
        ("1.7", Fraction(17, 10)),
        ("2,147,483,648", 2**31),
        ("2_147_483_648", 2**31),
        ("2147483648", 2**31),
        ("2*1024**3", 2**31),
        ("2 * 1024 ^ 3", 2**31),
        ("2**31", 2**31),
        ("1e9", 10**9),
        ("8.96e2", 896),
        ("1/3", Fraction(1, 3)),
        ("(1 + 2) * 3", 9),
        ("7 // 2", 3),
        ("0.1 * 3", Fraction(3, 10)),
        ("2**-2", Fraction(1, 4)),
        ("0x20", 32),
        ("1,024 * 1,024", 2**20),
        ("12,000.5", Fraction(24001, 2)),
        ("2**60 + 1", 2**60 + 1),
    ],
)
def test_what_is_arithmetic_has_its_exact_value(text, number):
    assert value(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nan",
        "inf",
        "-inf",
        "NaN",
        "infinity",
        "1e999",
        "thirty",
        "1,02",
        "0,5",
        "1,0244",
        "1 024",
        "3 2",
        "12 bytes",
        "1/0",
        "2**0.5",
        "10**10**10",
        "2**4096",
        "9" * 101,
        "(" * 60,
        "True",
        "None",
        "'1'",
        "[1]",
        "1j",
        "x",
        "1or 2",
        "abs(1)",
        "__import__('os')",
        "().__class__",
        "1 if 1 else 2",
        "lambda: 1",
        "1; 2",
        "1 < 2",
        "5 % 3",
        "~1",
        "1 << 3",
        "1\n2",
        "\0",
        "# 3",
        "=3",
    ],
)
def test_all_else_is_refused(text):
    with pytest.raises(ValueError):
        value(text)


def test_no_text_takes_long():
    began = time.perf_counter()
    for text in ("9**9**9**9", "*".join(["1e300"] * 16), "**".join(["2"] * 30), "(9**999)**999", "1e308**1000"):
        try:
            value(text)
        except ValueError:
            pass
    assert time.perf_counter() - began < 0.5
