"""What there is to show of a month is what was recorded, compared only where it can be compared."""

import pytest

from tools.course.learner import portfolio
from tools.tests.course import month
from tools.tests.course.miniature import LESSON
from tools.tests.course.versions.under_git import commit, git


@pytest.fixture
def root(tmp_path):
    return month.begin(tmp_path, "week1/day1", "week1/day2")


def section(root, name="week1/day1"):
    return {each.unit.name: each for each in portfolio.gather(root).sections}[name]


def changes(root):
    return {(c.function, c.quantity): (c.first, c.last, c.where) for c in section(root).changes}


def test_an_empty_month_has_nothing_to_show(root):
    found = portfolio.gather(root)
    assert (found.name, found.sections, found.done, len(found.days)) == ("Ada", (), 0, 2)
    assert (found.minutes, found.hints, found.first_kernel, found.began) == (0, 0, None, None)


def test_the_name_is_that_of_the_learners_branch_even_from_another_branch(root):
    git(root, "switch", "--quiet", "main")
    assert portfolio.learner(root) == "Ada"
    git(root, "branch", "learner/Grace")
    assert portfolio.learner(root) == ""  # two of them: nobody knows which


def test_without_git_there_is_no_name(tmp_path):
    assert portfolio.learner(tmp_path) == ""


# Before and after ---------------------------------------------------------------------------------


def test_counts_are_compared_first_with_last_at_the_size_last_counted(root):
    month.count(root, 1, sectors=1000, bytes_loaded=64)
    month.count(root, 2, sectors=500, bytes_loaded=64)
    month.count(root, 3, size=32, sectors=7)
    month.count(root, 4, sectors=125, bytes_loaded=64)
    assert changes(root) == {("double", "sectors"): (1000, 125, "size 64")}


def test_a_count_that_became_worse_is_told_too(root):
    month.count(root, 1, sectors=10)
    month.count(root, 2, sectors=30)
    assert section(root).changes[0].factor == pytest.approx(1 / 3)


def test_counts_of_two_shapes_or_by_two_counters_are_not_compared(root):
    facts = {"function": "double", "size": 64}
    month.add(root, "count", 1, **facts, shape="64 x 1", simulated=True, totals={"sectors": 1})
    month.add(root, "count", 2, **facts, shape="64 x 64", simulated=True, totals={"sectors": 2})
    month.add(root, "count", 3, **facts, shape="64 x 64", simulated=False, totals={"sectors": 3})
    assert changes(root) == {}
    month.add(root, "count", 4, **facts, shape="64 x 64", simulated=False, totals={"sectors": 4})
    assert changes(root) == {("double", "sectors"): (3, 4, "64 x 64")}


def test_a_single_count_is_no_change(root):
    month.count(root, 1, sectors=10)
    assert section(root).changes == ()
    assert section(root).counts[0].totals == {"sectors": 10}


def test_times_are_compared_at_the_largest_size_timed_with_two_files(root):
    month.bench(root, 1, 3.1e-3, size=2**10)
    month.bench(root, 2, 9.0, size=2**20)  # with the first file only
    month.bench(root, 3, 0.4e-3, size=2**10, lesson="second")
    assert changes(root) == {("double", "seconds"): (3.1e-3, 0.4e-3, "1024 float32, Test Card 1")}


def test_times_of_two_machines_are_not_compared(root):
    month.bench(root, 1, 3e-3)
    month.bench(root, 2, 1e-3, lesson="second", card="Test Card 2")
    assert changes(root) == {}


def test_times_of_one_file_are_not_compared(root):
    month.bench(root, 1, 3e-3)
    month.bench(root, 2, 2e-3)
    assert changes(root) == {}


def test_a_simulators_times_are_no_times(root):
    month.bench(root, 1, 3.0, simulated=True)
    month.bench(root, 2, 1.0, lesson="second", simulated=True)
    assert changes(root) == {}


def test_simulated_traffic_is_compared_at_one_shape(root):
    facts = {"function": "halve", "rows": [], "simulated": True, "asked": 64, "least": 8}
    month.add(root, "bench", 1, shape="64", in_sectors=512, **facts)
    month.add(root, "bench", 2, shape="64", in_sectors=64, **facts)
    month.add(root, "bench", 3, shape="128", in_sectors=128, **facts)
    assert changes(root) == {("halve", "bytes_in_sectors"): (512, 64, "64")}


# What is shown ------------------------------------------------------------------------------------


def test_of_each_function_the_last_files_benches_are_shown_by_size(root):
    month.bench(root, 1, 1e-3, size=2**12)
    month.bench(root, 2, 1e-3, size=2**20, lesson="second")
    month.bench(root, 3, 1e-3, size=2**10, lesson="second")
    month.bench(root, 4, 2e-3, size=2**10, lesson="second")
    assert [(b.size, b.own.seconds) for b in section(root).benches] == [(2**10, 2e-3), (2**20, 1e-3)]


def test_a_unit_that_the_journal_tells_of_is_started_though_no_progress_is_kept(root):
    month.add(root, "opened", 0, "week1/day2")
    assert section(root, "week1/day2").reached == "started"


def test_cards_come_with_the_last_date_on_which_they_confirmed_something(root):
    month.passed(root, card=month.CARD)
    found = portfolio.gather(root)
    assert {card: when.isoformat() for card, when in found.cards.items()} == {"Test Card 1": "2026-11-09"}
    assert (found.done, len(found.days)) == (1, 2)


NONSENSE = [
    None,
    7,
    "x",
    [],
    {},
    [7],
    [{"name": "yours"}],
    [{"name": "yours", "seconds": "fast"}],
    [{"name": "yours", "seconds": 0}],
    [{"name": "yours", "seconds": -1}],
    [{"name": ["yours"], "seconds": 1}],
]


@pytest.mark.parametrize("value", NONSENSE, ids=str)
def test_facts_of_another_form_are_left_out(root, value):
    month.add(root, "bench", 1, function="double", shape="64", size=64, rows=value, machine=value, lesson=value)
    month.add(root, "bench", 2, function=value, shape=[value], size=value, rows=[{"name": "yours", "seconds": 1}])
    month.add(root, "count", 3, function=value, size=value, totals=value)
    month.add(root, "count", 4, function="double", size=value, totals={"sectors": value})
    found = section(root)
    assert (found.changes, found.benches, found.traffic) == ((), (), ())
    assert [count.totals for count in found.counts] in ([{}], [{"sectors": 7}])


def test_a_damaged_journal_is_said(root):
    (root / "journal").mkdir()
    (root / "journal/journal.jsonl").write_text("{broken\n")
    assert "journal/journal.jsonl has 1 line" in portfolio.gather(root).warning


# The code -----------------------------------------------------------------------------------------


def pieces(root):
    return [(piece.name, piece.task, piece.known) for piece in section(root).pieces]


def test_only_functions_that_differ_from_the_stub_and_have_no_gap_are_the_learners(root):
    month.add(root, "opened", 0)
    month.solve(root, lesson=month.SOLVED.replace("# Task 2", "def _own(x):\n    return x\n\n\n# Task 2"))
    assert pieces(root) == [("double", 1, True), ("_own", 1, True), ("kernel", 2, True)]
    assert section(root).pieces[2].source == "@staticmethod\ndef kernel(x_ptr, n):\n    x_ptr[0] = double(n)"


def test_work_that_is_committed_is_still_told_from_the_stub(root):
    month.add(root, "opened", 0)
    month.solve(root)
    commit(root)
    assert [name for name, _, _ in pieces(root)] == ["double", "kernel"]
    git(root, "switch", "--quiet", "main")
    git(root, "merge", "--quiet", "learner/Ada")  # as of a learner who works on main itself
    assert [name for name, _, _ in pieces(root)] == ["double", "kernel"]


def test_a_stub_shows_no_code_and_a_lesson_with_a_syntax_error_neither(root):
    month.add(root, "opened", 0)
    assert pieces(root) == []
    month.solve(root, lesson=LESSON + "\ndef broken(:\n")
    assert pieces(root) == []


def test_without_git_written_functions_are_shown_as_not_compared(tmp_path):
    from tools.tests.course.miniature import write

    write(tmp_path)
    month.add(tmp_path, "opened", 0)
    month.solve(tmp_path)
    assert pieces(tmp_path) == [("double", 1, False), ("kernel", 2, False)]
