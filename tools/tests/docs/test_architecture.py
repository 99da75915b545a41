"""docs/ARCHITECTURE.md leads through files that exist."""

import ast
import re

from tools import ROOT

TEXT = (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")


def test_every_file_and_folder_on_the_map_is_there():
    named = set(re.findall(r"`((?:[\w-]+/)*[\w-]+(?:\.(?:py|toml|md)|/))`", TEXT))
    tools = ROOT / "tools"
    elsewhere = {path.name for path in tools.rglob("*.py")}
    lost = [
        name for name in named if not any((root / name).exists() for root in (tools, ROOT)) and name not in elsewhere
    ]
    assert len(named) > 40
    assert [name for name in lost if not any(tools.glob(f"*/*/{name}")) and not any(tools.glob(f"*/{name}"))] == []


def test_a_module_says_first_what_it_is():
    """The noun first: its docstring opens with the thing, and with no question about it."""
    question = re.compile(r"(What|Which|Who|Is|Did|Does|How|Where|When|Why)\b")
    files = [file for file in sorted((ROOT / "tools").rglob("*.py")) if "tests" not in file.parts]
    openings = {file: ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) for file in files}
    assert [
        file.relative_to(ROOT).as_posix() for file, text in openings.items() if question.match(text or "What")
    ] == []
