"""A day's notebook: what stands in it, what its cells write, what they answer. test_notebook_runs.py executes it."""

import builtins
import json
import re
import sys
import types

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.notebook import build, magic, text, widgets
from tools.tests.conftest import needs_solutions
from tools.tests.course.miniature import DAY, LESSON, QUIZ, make
from tools.tests.course.versions import under_git

UNITS = catalogue.units(ROOT)
ids = [unit.name for unit in UNITS]
each_unit = pytest.mark.parametrize("unit", UNITS, ids=ids)


def sources(notebook) -> dict[str, str]:
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}


# The course's own days ----------------------------------------------------------------------------


@each_unit
def test_a_notebook_is_valid_and_the_same_each_time(unit):
    made = build.dump(build.build(unit))
    assert made == build.dump(build.build(unit))
    names = [cell["id"] for cell in json.loads(made)["cells"]]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat; found none; pip install -e '.[notebook]'")
    nbformat.validate(nbformat.reads(made, as_version=4))


@each_unit
def test_every_choice_and_every_reason_is_in_the_notebook(unit):
    whole = "\n".join(sources(build.build(unit)).values())
    for question in unit.quiz:
        assert repr(question.question) in whole
        for choice in question.choices:
            assert repr(choice.text) in whole and repr(choice.why) in whole
        if not question.choices:
            assert f"number={question.number!r}" in whole and repr(question.why) in whole


@each_unit
def test_all_words_of_the_docstring_are_in_the_notebook(unit):
    """But for the commands of Verify, for which the notebook has cells."""
    lesson = text.docstring(unit.lesson.read_text(encoding="utf-8"))
    wanted = {word for line in lesson.split("\n")[1:] if not text.COMMAND.match(line.strip()) for word in line.split()}
    found = " ".join(sources(build.build(unit)).values())
    plain = re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), found).replace("&lt;", "<").replace("&amp;", "&")
    missing = {word for word in wanted if word not in plain.replace("**", "") and word not in plain}
    assert not missing


@each_unit
def test_every_task_has_a_cell_and_the_gaps_are_in_it(unit):
    cells = sources(build.build(unit))
    for task in unit.tasks:
        first = cells[f"task-{task.number}"].split("\n")[0]
        assert first == (f"%%task {task.number}" if task.line else f"%tests {task.number}")
        for function in task.functions:
            assert re.search(rf"^(def|class) {function}\b", cells[f"task-{task.number}"], re.MULTILINE)


@needs_solutions
@each_unit
def test_a_solution_leaves_no_gap(unit):
    cells = sources(build.build(unit, solution=True))
    assert not any("NotImplementedError" in source for name, source in cells.items() if name.startswith("task-"))
    assert "This is the solution" in cells["title"]


@each_unit
def test_every_test_of_the_day_runs_in_the_cell_of_one_task(unit):
    names = [name for task in unit.tasks for name in magic.tests_of(unit, task.number)]
    tests = re.findall(r"^def (test_\w+)", unit.tests.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(names) == sorted(tests)


@each_unit
def test_putting_a_section_back_changes_no_byte(unit):
    source = unit.lesson.read_text(encoding="utf-8")
    for task, code in text.sections(source).items():
        assert text.replace_section(source, task, code) == source


# Text ---------------------------------------------------------------------------------------------

ESCAPED = [
    ("2 * m * n * k", "2 * m * n * k"),
    ("2**code - 1", "2&#42;&#42;code - 1"),
    ("the *lanes* of a warp", "the *lanes* of a warp"),
    ("*_ptr and l_", "&#42;&#95;ptr and l&#95;"),
    ("kernel[blocks, threads](x)", "kernel[blocks, threads]&#40;x)"),
    ("a < b & c", "a &lt; b &amp; c"),
    ("`a * b` costs $5", "`a * b` costs &#36;5"),
    ("one ` alone", "one &#96; alone"),
    ("# no heading", "&#35; no heading"),
    ("- no list", "&#45; no list"),
]


@pytest.mark.parametrize("line, markdown", ESCAPED)
def test_plain_text_stays_plain_in_markdown(line, markdown):
    assert text.escape(line) == markdown


def test_a_picture_drawn_in_letters_stays_as_it_is():
    drawn = "Words.\n\n    1 2\n      3\n\n    4\n\nMore."
    assert text.markdown(drawn) == "Words.\n\n```text\n1 2\n  3\n\n4\n```\n\nMore."


def test_a_command_to_explore_becomes_a_cell_and_the_text_around_it_stays():
    step = 'First.\n./course python -c "print(1)"       what one is\n./course quiz week1/day0    ten questions\nThen.'
    assert text.explore(step) == [
        ("text", "First."),
        ("command", "shell('./course python -c \"print(1)\"')  # what one is"),
        ("text", "`./course quiz week1/day0`: ten questions\n\nThen."),
    ]


def test_a_tasks_amount_moves_to_the_end_of_its_line():
    assert text.task_lines("Task 2  one, then    (eight lines)\n        two\nTask 3  three") == {
        2: "one, then two (eight lines)",
        3: "three",
    }


# The first cell -----------------------------------------------------------------------------------


def test_the_first_cell_has_the_address_of_the_learners_copy_and_no_password(tmp_path):
    under_git.begin(tmp_path)
    unit = catalogue.unit("week1/day1", tmp_path)
    assert "ADDRESS = ''" in sources(build.build(unit))["setup"]
    under_git.git(tmp_path, "remote", "add", "origin", "https://ada:secret@github.com/ada/course.git")
    setup = sources(build.build(unit))["setup"]
    assert "ADDRESS = 'https://github.com/ada/course'" in setup and "secret" not in setup
    assert str(tmp_path) not in build.dump(build.build(unit))


def first_cell(tmp_path, monkeypatch, modules=(), address=""):
    """Run it in an empty folder, as if these modules were loaded; what it runs is noted and not run."""
    source = sources(build.build(make(tmp_path / "course")))["setup"].replace("ADDRESS = ''", f"ADDRESS = {address!r}")
    ran = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("subprocess.run", lambda command, check: ran.append(command))
    for module in modules:
        monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    monkeypatch.setattr(magic, "begin", lambda unit: ran.append(unit))
    monkeypatch.setattr("os.chdir", lambda folder: None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    exec(source, {})
    return ran


def test_outside_a_course_the_first_cell_says_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="There is no week1/day1 here. Put this notebook into a folder of the course"):
        first_cell(tmp_path, monkeypatch)


def test_on_colab_the_first_cell_asks_for_an_address_where_it_has_none(tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="Put the address of your copy of the course into ADDRESS"):
        first_cell(tmp_path, monkeypatch, ["google.colab"])


def test_on_colab_the_first_cell_fetches_and_installs_the_course_and_begins(tmp_path, monkeypatch):
    address = "https://example.org/ada/course"
    clone, install, begun = first_cell(tmp_path, monkeypatch, ["google.colab"], address)
    assert clone == ["git", "clone", "--quiet", address, "/content/course"]
    assert install[1:] == ["-m", "pip", "install", "--quiet", "-e", "/content/course"]
    assert begun == "week1/day1"


# %%task -------------------------------------------------------------------------------------------

WRITTEN = "def double(x: int) -> int:\n    return x + x\n\n\ndef halve(x: int) -> int:\n    return x // 2\n"


@pytest.fixture
def day(tmp_path):
    return magic.Day(make(tmp_path, day=DAY + QUIZ), solution=False)


def test_a_cell_goes_into_the_lesson_in_place_of_the_gap(day):
    assert day.write(1, WRITTEN) == ""
    before, after = LESSON.partition("# Task 1\n")[0], LESSON.partition("# Task 2")[2]
    assert day.unit.lesson.read_text() == before + "# Task 1\n" + WRITTEN + "\n\n# Task 2" + after


def test_the_last_task_ends_with_the_file(day):
    day.write(2, "@staticmethod\ndef kernel(x_ptr, n):\n    x_ptr[0] = n\n\n\n")
    assert day.unit.lesson.read_text().endswith("# Task 2\n@staticmethod\ndef kernel(x_ptr, n):\n    x_ptr[0] = n\n")


REFUSED = [
    ("def double(x):\n    return (", r"Line 3 of this cell: .*\nNothing was written\."),
    (
        "def double(x):\n    return 2 * x",
        r"Task 1 needs halve, which this cell does not define\.\nNothing was written\.",
    ),
    (WRITTEN + "\n# Task 2\n", r"A line '# Task N' begins a task in the lesson; .*\nNothing was written\."),
]


@pytest.mark.parametrize("code, says", REFUSED)
def test_a_cell_that_would_spoil_the_lesson_is_refused(day, code, says):
    with pytest.raises(magic.NotWritten) as refused:
        day.write(1, code)
    assert re.fullmatch(says, str(refused.value))
    assert day.unit.lesson.read_text() == LESSON


def test_a_lesson_that_lost_its_task_is_said(day):
    day.unit.lesson.write_text(LESSON.replace("# Task 1\n", ""))
    with pytest.raises(magic.NotWritten, match="small.py has no line '# Task 1' any more.\n.*course reset week1/day1"):
        day.write(1, WRITTEN)


def test_work_that_a_cell_replaces_is_kept_and_the_learner_is_told(day):
    other = LESSON.replace('raise NotImplementedError("week1/day1 task 1: double")', "return 2 * x")
    day.unit.lesson.write_text(other)
    told = re.fullmatch(
        "The lesson held other code for task 1; it is kept in "
        r"(\.course/kept/week1/day1/small-[\d-]+\.py)\.\n",
        day.write(1, WRITTEN),
    )
    assert (day.unit.root / told[1]).read_text() == other
    assert day.write(1, WRITTEN.replace("x + x", "2 * x")) == ""  # what this notebook wrote itself it may replace
    day.unit.lesson.write_text(other)  # edited elsewhere since
    assert "is kept in" in day.write(1, WRITTEN)
    assert len(list((day.unit.root / told[1]).parent.iterdir())) == 2


def test_a_repair_that_was_not_touched_is_not_kept_and_one_that_was_is(tmp_path):
    given = LESSON.replace('raise NotImplementedError("week1/day1 task 1: double")', "return x * 1")
    under_git.begin(tmp_path, lesson=given)
    unit = catalogue.unit("week1/day1", tmp_path)
    assert magic.Day(unit, solution=False).write(1, WRITTEN) == ""
    assert "is kept in" in magic.Day(unit, solution=False).write(1, WRITTEN.replace("x + x", "2 * x"))


def test_a_solution_is_written_beside_the_lesson(tmp_path):
    unit = make(tmp_path)
    opened = magic.Day(unit, solution=True)
    opened.write(1, WRITTEN)
    assert unit.lesson.read_text() == LESSON
    assert (tmp_path / ".course/notebook/week1/day1/small.py").read_text() != LESSON


# Questions and pictures ---------------------------------------------------------------------------

CHOICES = [("an error <b>", False, "Divergence & co. are legal."), ("both arms run", True, "One after the other.")]


@pytest.fixture
def shown(monkeypatch):
    seen = []
    monkeypatch.setattr(widgets, "_display", seen.append)
    monkeypatch.setattr(widgets, "_display_widget", seen.append)
    return seen


@pytest.fixture
def without_widgets(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **named):
        if name == "ipywidgets":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_a_choice_shows_its_reason_at_once_and_the_next_choice_its_own(shown):
    pytest.importorskip("ipywidgets", reason="needs ipywidgets; found none; pip install -e '.[notebook]'")
    widgets.ask("What happens?", choices=CHOICES)
    heading, buttons, reason = shown[0].children
    assert (buttons.value, reason.value) == (None, "")
    buttons.value = "a"
    assert "No.</b> Divergence &amp; co. are legal.<br>Right is b: both arms run<br>One after" in reason.value
    buttons.value = "b"
    assert "Right.</b> One after the other." in reason.value


def test_a_number_is_judged_however_it_is_written(shown):
    pytest.importorskip("ipywidgets", reason="needs ipywidgets; found none; pip install -e '.[notebook]'")
    widgets.ask("How many?", number=896, why="Because.")
    heading, field, reason = shown[0].children
    for answer, says in (
        ("8.96e2", "Right.</b>"),
        ("7 * 2**7", "Right.</b>"),
        ("897", "No.</b> The answer is 896. Because."),
        ("many", "Answer with a number"),
        ("nan", "Answer with a number"),
    ):
        field.value = answer
        assert says in reason.value


def test_without_ipywidgets_every_choice_unfolds_its_reason(shown, without_widgets):
    widgets.ask("What <happens>?", choices=CHOICES)
    widgets.ask("How many?", number=896, why="Because.")
    assert shown[0].count("<details>") == 2 and "What &lt;happens&gt;?" in shown[0]
    assert "an error &lt;b&gt;</summary>" in shown[0] and "Divergence &amp; co. are legal." in shown[0]
    assert "896. Because." in shown[1]


def test_without_ipywidgets_a_picture_stands_still(shown, without_widgets):
    widgets.sliders(lambda n, block: f"<svg>{n} {block}</svg>", n=(10, 0, 64), block=[4, 8])
    assert widgets.image("<svg>10 4</svg>") in shown[0] and widgets.PLAIN in shown[0]


def test_a_slider_moves_the_picture(shown, monkeypatch):
    ipywidgets = pytest.importorskip("ipywidgets", reason="needs ipywidgets; found none; pip install -e '.[notebook]'")
    made = {}
    monkeypatch.setattr(ipywidgets, "interact", lambda draw, **controls: made.update(controls, draw=draw))
    widgets.sliders(lambda n, block: f"<svg>{n} {block}</svg>", n=(10, 0, 64), block=[4, 8])
    assert (made["n"].value, made["n"].min, made["n"].max, made["block"].options) == (10, 0, 64, (4, 8))
    made["draw"](n=3, block=8)
    assert shown == [widgets.image("<svg>3 8</svg>")]
