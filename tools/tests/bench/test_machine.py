"""The measured ceiling: kept for this machine as it is, and measured anew for another."""

import json

import pytest

from tools.bench import machine

RATES = {"bandwidth": 1e10, "host": None, "peaks": {"float32": 1e11}}


@pytest.fixture
def measured(monkeypatch):
    calls = []
    monkeypatch.setattr(machine, "_cpu_ceiling", lambda: calls.append(1) or dict(RATES))
    return calls


def test_a_ceiling_is_measured_once(tmp_path, measured):
    assert not machine.is_known("cpu", tmp_path)  # which says that the learner has to wait
    first, second = machine.ceiling("cpu", tmp_path), machine.ceiling("cpu", tmp_path)
    assert machine.is_known("cpu", tmp_path)
    assert (first, len(measured)) == (second, 1)
    assert first["bandwidth"] == 1e10 and first["date"]


def test_another_machine_or_version_is_measured_anew(tmp_path, measured, monkeypatch):
    machine.ceiling("cpu", tmp_path)
    monkeypatch.setattr(machine, "cpu", lambda: "another CPU, 4 cores")
    machine.ceiling("cpu", tmp_path)
    assert len(measured) == 2
    assert len(json.loads((tmp_path / machine.FILE).read_text(encoding="utf-8"))) == 2


@pytest.mark.parametrize("text", ["{", "[]", '{"x": {"bandwidth": 1}}'])
def test_a_damaged_file_is_as_good_as_none(tmp_path, measured, text):
    (tmp_path / ".course").mkdir()
    (tmp_path / machine.FILE).write_text(text, encoding="utf-8")
    assert machine.ceiling("cpu", tmp_path)["bandwidth"] == 1e10


def test_where_nothing_can_be_kept_it_is_measured_all_the_same(tmp_path, measured):
    (tmp_path / ".course").write_text("a file, no folder", encoding="utf-8")
    assert machine.ceiling("cpu", tmp_path)["bandwidth"] == 1e10


def test_a_cpu_copies_and_multiplies(monkeypatch):
    monkeypatch.setattr(machine, "COPIED", 2**20)
    monkeypatch.setattr(machine, "SIDES", {"cpu": 64})
    found = machine._cpu_ceiling()
    assert found["bandwidth"] > 1e6 and found["host"] is None
    assert set(found["peaks"]) == {"float32", "float64"} and min(found["peaks"].values()) > 1e6


def test_facts_name_the_cpu_its_cores_and_versions():
    found = machine.facts("cpu")
    assert "core" in found["cpu"] and "numpy" in found["versions"]
