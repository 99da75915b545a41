"""A lesson's text as Python reads it: with its encoding, a byte order mark, and line ends of any kind."""

import importlib.util
from pathlib import Path


class NotText(Exception):
    """Bytes that Python takes for no source text; `line` is where, `words` say why and what to do."""

    def __init__(self, line: int, words: str):
        super().__init__(words)
        self.line, self.words = line, words


def read(file: Path) -> str:
    """The text of a lesson, with a sign in place of what is no text. Raises OSError."""
    source = file.read_bytes()
    try:
        return decode(source)
    except NotText:
        return source.decode("utf-8-sig", errors="replace")


def decode(source: bytes) -> str:
    """The text that Python would read. Raises NotText."""
    try:
        text = importlib.util.decode_source(source)
    except (UnicodeDecodeError, SyntaxError, LookupError) as error:
        raise _why(source, error) from None
    if "\0" in text:
        raise NotText(text.count("\n", 0, text.index("\0")) + 1, "a null byte is no text; delete it.")
    return text


def _why(source: bytes, error: Exception) -> NotText:
    """A byte that does not fit; or else a line that names no encoding."""
    try:
        if not isinstance(error, UnicodeDecodeError):
            source.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:  # in one of the first two lines, where Python looks for an encoding
        error = wrong
    if not isinstance(error, UnicodeDecodeError):
        return NotText(1, "the first lines name an encoding that does not fit; save the lesson as UTF-8, without that.")
    name = error.encoding.removesuffix("-sig").upper()
    line = error.object.count(b"\n", 0, error.start) + 1
    return NotText(line, f"byte {error.object[error.start]:#x} is not {name}; save the lesson as UTF-8.")
