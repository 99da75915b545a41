"""A lesson is read as Python reads it; bytes that are no text are named with their line."""

import pytest

from tools.course.content import source
from tools.course.content.source import NotText, decode

E = "é"


@pytest.mark.parametrize(
    "written, text",
    [
        (f"x = '{E}'\n".encode(), f"x = '{E}'\n"),
        (f"\ufeffx = '{E}'\n".encode(), f"x = '{E}'\n"),
        (b"x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
        (f"# -*- coding: latin-1 -*-\nx = '{E}'\n".encode("latin-1"), f"# -*- coding: latin-1 -*-\nx = '{E}'\n"),
        (b"", ""),
    ],
)
def test_what_python_reads_is_read(written, text, tmp_path):
    assert decode(written) == text
    compile(written, "lesson", "exec")  # Python agrees
    (tmp_path / "lesson.py").write_bytes(written)
    assert source.read(tmp_path / "lesson.py") == text


@pytest.mark.parametrize(
    "written, line, says",
    [
        (f"x = '{E}'\n".encode("latin-1"), 1, "byte 0xe9 is not UTF-8; save the lesson as UTF-8."),
        (f"# 1\n# 2\nx = '{E}'\n".encode("latin-1"), 3, "byte 0xe9 is not UTF-8; save the lesson as UTF-8."),
        ("x = 1\n".encode("utf-16"), 1, "byte 0xff is not UTF-8; save the lesson as UTF-8."),
        (b"# coding: ascii\nx = '\xe9'\n", 2, "byte 0xe9 is not ASCII; save the lesson as UTF-8."),
        (b"x = 1\n\0\n", 2, "a null byte is no text; delete it."),
        (
            b"# coding: klingon\nx = 1\n",
            1,
            "the first lines name an encoding that does not fit; save the lesson as UTF-8, without that.",
        ),
    ],
)
def test_what_python_cannot_read_is_named(written, line, says, tmp_path):
    with pytest.raises(NotText) as raised:
        decode(written)
    assert (raised.value.line, raised.value.words) == (line, says)
    with pytest.raises((SyntaxError, ValueError)):
        compile(written, "lesson", "exec")
    (tmp_path / "lesson.py").write_bytes(written)
    assert isinstance(source.read(tmp_path / "lesson.py"), str)
