"""What the documents point to is there: files, units and commands."""

import re
from pathlib import Path

import pytest

from tools import ROOT
from tools.course.content import catalogue

PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CONTRIBUTING.md"]
TOPICS = (
    "CUTLASS",
    "CuTe DSL",
    "Triton upstream",
    "Gluon",
    "Mojo",
    "ThunderKittens",
    "HIP",
    "Metal",
    "JAX Pallas",
    "GPU MODE",
)


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_to_a_file_leads_to_one(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.MULTILINE)
    for link in links:
        if not re.match(r"https?://|#", link):
            assert (page.parent / link.partition("#")[0]).exists(), f"{named(page)} links {link}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_module_that_a_page_runs_exists(page):
    for module in re.findall(r"python -m (tools\.[\w.]+)", page.read_text(encoding="utf-8")):
        file = ROOT / module.rstrip(".").replace(".", "/")
        assert file.with_suffix(".py").exists() or (file / "__main__.py").exists(), f"{named(page)}: {module}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_that_a_page_names_exists(page):
    pytest.importorskip("typer", reason="needs typer; pip install typer")
    from tools.cli.commands import app

    commands = {"python"} | {command.name for command in app.registered_commands}  # the launcher answers that one
    for word in re.findall(r"\./course ([a-z]+)\b(?![/.])", page.read_text(encoding="utf-8")):
        assert word in commands, f"{named(page)} names ./course {word}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "docs"], ids=named)
def test_every_page_is_on_the_map(page):
    assert named(page) in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("topic", TOPICS)
def test_where_to_go_next_has_each_topic_with_a_link_or_more(topic):
    text = (ROOT / "docs/WHERE_NEXT.md").read_text(encoding="utf-8")
    assert re.search(rf"\[{topic}\]\(https://[^)]+\)", text)


def test_units_that_patterns_links_exist():
    names = re.findall(r"\[(week\d/[\w/]+)\]", (ROOT / "docs/PATTERNS.md").read_text(encoding="utf-8"))
    assert names and set(names) <= set(catalogue.names())
