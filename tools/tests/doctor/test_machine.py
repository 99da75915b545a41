"""Facts are gathered without importing what they are about, and can be pretended."""

import os
import subprocess
import sys

import pytest

from tools import ROOT, gpu
from tools.doctor import machine, self_tests


@pytest.fixture
def fresh(monkeypatch):
    """Facts are gathered anew, and forgotten afterwards."""
    machine._gather.cache_clear()
    yield monkeypatch
    machine._gather.cache_clear()


def test_facts_are_those_of_this_python():
    assert machine.facts().python == sys.version_info[:3]
    assert machine.facts().system == sys.platform


def test_gathering_does_not_import_pytorch():
    code = "import sys; from tools.doctor import machine; machine.facts(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60).returncode == 0


def test_versions_are_those_that_the_packages_say_of_themselves():
    numpy = pytest.importorskip("numpy")
    assert machine.facts().packages["numpy"] == numpy.__version__


def test_cuda_version_of_pytorch_is_read_without_importing_it():
    torch = pytest.importorskip("torch")
    expected = tuple(int(part) for part in torch.version.cuda.split(".")[:2]) if torch.version.cuda else None
    assert machine.facts().torch_cuda == expected


@pytest.mark.parametrize("text, version", [
    ("cuda: Optional[str] = '13.0'\nhip = None\n", (13, 0)),
    ("cuda = '12.8'\n", (12, 8)),
    ("cuda: Optional[str] = None\nhip = '6.2'\n", None),
])  # fmt: skip
def test_cuda_version_is_found_in_each_spelling_of_the_version_file(text, version, tmp_path, monkeypatch):
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "version.py").write_text(text)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert machine._cuda_of_torch() == version


def test_card_and_driver_are_what_the_driver_library_says(fresh):
    fresh.setattr(gpu, "card", lambda: gpu.Card("NVIDIA H200", (9, 0), (13, 0)))
    facts = machine.facts()
    assert (facts.card, facts.capability, facts.driver) == ("NVIDIA H200", (9, 0), (13, 0))


def test_nvidia_smi_is_not_asked_when_the_run_simulates(fresh):
    fresh.setenv(gpu.SIMULATE, "1")
    fresh.setattr(machine, "_listed_card", lambda: "NVIDIA H200")
    assert machine.facts().listed is None


def test_a_driver_that_is_not_to_be_asked_is_not_asked(monkeypatch):
    monkeypatch.setattr(gpu, "card", lambda: pytest.fail("the driver was asked"))
    monkeypatch.setattr(machine, "_listed_card", lambda: pytest.fail("nvidia-smi was asked"))
    facts = machine.gather(simulated=True)
    assert facts.card is facts.driver is facts.listed is None


@pytest.mark.parametrize("script, listed", [
    ("echo NVIDIA H200\necho NVIDIA H200", "NVIDIA H200"),
    ("echo 'could not communicate with the driver'; exit 9", None),
    ("true", None),
])  # fmt: skip
def test_nvidia_smi_lists_the_first_card_or_none(script, listed, tmp_path, monkeypatch):
    command = tmp_path / "nvidia-smi"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert machine._listed_card() == listed


def test_no_nvidia_smi_lists_no_card(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine._listed_card() is None


# Pretending --------------------------------------------------------------------------------------


def test_pretended_facts_end_with_the_context():
    before = machine.facts()
    with machine.pretend({"free_gb": 0.1}) as facts:
        assert machine.facts() is facts
        assert facts.free_gb == 0.1
    assert machine.facts() is before


def test_pretended_tables_are_merged_and_lists_are_versions():
    with machine.pretend({"driver": [13, 0], "packages": {"torch": "", "cupy-cuda13x": "14.2.0"}}) as facts:
        assert facts.driver == (13, 0)
        assert "torch" not in facts.packages
        assert facts.packages["cupy-cuda13x"] == "14.2.0"
        assert facts.packages["numpy"] == machine.LAPTOP.packages["numpy"]


def test_pretending_an_unknown_fact_is_an_error():
    with pytest.raises(TypeError, match="colour"), machine.pretend({"colour": "green"}):
        pass


# Self-tests --------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["numpy", "torch", "triton"])
def test_a_library_that_works_answers_right(library):
    pytest.importorskip(library)
    assert self_tests.ask(library) == self_tests.RIGHT


def test_a_library_that_fails_answers_with_the_beginning_of_its_error(monkeypatch):
    def broken():
        raise OSError("libcudart.so.13: cannot open shared object file\n" + "and more " * 20)

    monkeypatch.setitem(self_tests.SELF_TESTS, "broken", broken)
    assert self_tests.ask("broken").startswith("OSError: libcudart.so.13: cannot open shared object file and more")
    assert len(self_tests.ask("broken")) <= self_tests.LONGEST


def test_the_triton_self_test_leaves_the_environment_alone():
    pytest.importorskip("triton")
    before = dict(os.environ)
    self_tests.SELF_TESTS["triton"]()
    assert dict(os.environ) == before


def test_a_pretended_answer_is_taken_before_the_library_is_asked():
    with machine.pretend({"answers": {"triton": "0 0 0 0 0 0 0 0"}}) as facts:
        assert machine.answer(facts, "triton") == "0 0 0 0 0 0 0 0"
