"""Safeguards that nobody misses: (function, kind, what was taken away) -> why nothing can tell the difference."""

EXCUSED: dict[tuple[str, str, str], str] = {}
