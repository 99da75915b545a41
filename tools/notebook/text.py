"""A lesson's text in the parts of which a notebook is made: the five steps as Markdown, and a section for each task.

The docstring is plain text with pictures drawn in letters; as Markdown it must look the same.
"""

import ast
import re
import textwrap

from tools.course.content.day_file import STEPS
from tools.course.content.syntax import task_comments

COMMAND = re.compile(r"(?:pytest|marimo|\./course) ")
PYTHON = "./course python "  # begins what a notebook runs by itself
LABEL = re.compile(r"([A-Z][\w,()'-]*(?: [\w,()'-]+){0,4}): ")  # at most five words
EMPHASIS = re.compile(r"(?<![\w*])\*(\w[\w -]*)\*(?![\w*])")
AMOUNT = re.compile(r"\s{2,}(\([\w -]+\))\s*$")  # (two lines), at the right of a task's line


# The docstring ------------------------------------------------------------------------------------


def steps(docstring: str) -> dict[str, str]:
    """The text of each step, and under "" what stands after the last one. The title is left out."""
    found: dict[str, list[str]] = {}
    step = None
    for line in docstring.split("\n")[1:]:
        if line in STEPS:
            step = line
        elif line and not line.startswith(" "):
            step = ""
        if step is not None and line not in STEPS:
            found.setdefault(step, []).append(line)
    return {name: textwrap.dedent("\n".join(lines)).strip("\n") for name, lines in found.items()}


def markdown(text: str) -> str:
    """A step as Markdown: what is drawn stays as it is drawn, all else is prose."""
    return "\n\n".join(_drawn(lines) if drawn else _prose(lines) for drawn, lines in _blocks(text))


def _blocks(text: str) -> list[tuple[bool, list[str]]]:
    """Runs of lines that belong together; True where they are indented, as pictures and tables are."""
    blocks: list[tuple[bool, list[str]]] = []
    for line in text.split("\n"):
        drawn = line.startswith("  ") or (not line and bool(blocks) and blocks[-1][0])
        if blocks and blocks[-1][0] == drawn and (drawn or line):
            blocks[-1][1].append(line)
        elif line:
            blocks.append((drawn, [line]))
        else:
            blocks.append((False, []))
    return [block for block in blocks if any(block[1])]


def _drawn(lines: list[str]) -> str:
    return "```text\n" + textwrap.dedent("\n".join(lines)).strip("\n") + "\n```"


def _prose(lines: list[str]) -> str:
    """A paragraph begins at a label, as in "Traffic: programs share nothing", after the end of a sentence."""
    made: list[str] = []
    for before, line in zip(["."] + lines, lines):
        label = LABEL.match(line) if before.endswith((".", "?", ":")) else None
        if label:
            made += ["", f"**{escape(label[1])}:** {escape(line[label.end() :])}"]
        else:
            made.append(escape(line))
    return "\n".join(made).strip("\n")


def escape(line: str) -> str:
    """Plain text as Markdown: only `code` and *emphasis* mean anything in it."""
    parts = line.split("`")
    if len(parts) % 2 == 0:  # one of them is a letter
        parts[-2:] = ["\1".join(parts[-2:])]
    parts[::2] = [_escape_words(part).replace("\1", "&#96;") for part in parts[::2]]
    return re.sub(r"^([#>+=-]|\d+(?=[.)] ))", lambda m: m[1] if m[1].isdigit() else f"&#{ord(m[1])};", "`".join(parts))


def _escape_words(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("$", "&#36;").replace("](", "]&#40;")
    text = text.replace("\\", "&#92;").replace("~", "&#126;")
    text = re.sub(r"(?<!\w)_|_(?!\w)", "&#95;", text)  # inside a name it is a letter anyway
    kept = EMPHASIS.sub("\0\\1\0", text)
    return re.sub(r"(?<! )\*|\*(?! )", "&#42;", kept).replace("\0", "*")  # between blanks it is a letter, too


def explore(text: str) -> list[tuple[str, str]]:
    """The step Explore as ("text", Markdown) and ("command", Python that runs it), in order."""
    parts: list[tuple[str, str]] = []
    for line in text.split("\n"):
        command, _, about = line.partition("    ")
        about = about.strip()
        if line.startswith(PYTHON):
            parts.append(("command", f"shell({command.strip()!r})" + (f"  # {about}" if about else "")))
            continue
        words = f"`{command.strip()}`: {about}\n" if COMMAND.match(line) and about else line
        if parts and parts[-1][0] == "text":
            parts[-1] = ("text", f"{parts[-1][1]}\n{words}")
        elif words:
            parts.append(("text", words))
    return [(kind, markdown(part) if kind == "text" else part) for kind, part in parts]


def task_lines(text: str) -> dict[int, str]:
    """The words of the step "Code it" on each task, as one line of Markdown."""
    found: dict[int, list[str]] = {}
    for line in text.split("\n"):
        match = re.match(r"Task (\d+)\s+(.*)", line)
        if match:
            found[int(match[1])] = [match[2]]
        elif found and line.strip():
            found[max(found)].append(line.strip())
    return {task: _one_line(lines) for task, lines in found.items()}


def _one_line(lines: list[str]) -> str:
    """The lines joined; how much there is to write moves from their right edges to the end."""
    amounts = [match[1] for line in lines if (match := AMOUNT.search(line))]
    return escape(" ".join([*(AMOUNT.sub("", line) for line in lines), *amounts]))


# The code -----------------------------------------------------------------------------------------


def docstring(source: str) -> str:
    return ast.get_docstring(ast.parse(source), clean=False) or ""


def sections(source: str) -> dict[int, str]:
    """The text below each line `# Task N`, up to the next, without blank lines around it."""
    lines = source.split("\n")
    starts = task_comments(source)
    ends = [line - 1 for line, _ in starts[1:]] + [len(lines)]
    return {task: "\n".join(lines[start:end]).strip("\n") for (start, task), end in zip(starts, ends)}


def replace_section(source: str, task: int, code: str) -> str:
    """The lesson with other code below `# Task N`. KeyError where it has no such line."""
    lines = source.split("\n")
    starts = task_comments(source)
    own = {number: line for line, number in starts}[task]
    following = next((line for line, _ in starts if line > own), None)
    rest = ["", "", *lines[following - 1 :]] if following is not None else [""]
    return "\n".join([*lines[:own], *code.strip("\n").split("\n"), *rest])


def given(source: str) -> str:
    """The code between the docstring and the first task: imports and constants."""
    body = ast.parse(source).body
    start = body[0].end_lineno if ast.get_docstring(ast.parse(source), clean=False) is not None else 0
    lines = source.split("\n")[start:]
    first = next((line - 1 for line, _ in task_comments("\n".join(lines))), len(lines))
    return "\n".join(lines[:first]).strip("\n")
