"""docs/ARCHITECTURE.md leads through files that exist."""

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
