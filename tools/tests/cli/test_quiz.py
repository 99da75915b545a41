"""course quiz asks one question at a time and gives the reason at once, from a terminal or a pipe."""

import io
import re
from datetime import date

import pytest

from tools.cli.__main__ import main
from tools.course.learner import journal
from tools.course.learner.progress import SIMULATED, Check, Plan, Progress, Result, file_hash
from tools.tests.course.miniature import DAY, DIAGNOSTIC, QUIZ, make, write


@pytest.fixture
def take(tmp_path, capsys, monkeypatch):
    """take("32\\nb\\n") -> what `course quiz week1/day1` prints when that is typed."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def take(typed: str, day: str = DAY + QUIZ) -> str:
        write(tmp_path, day=day)
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert main(["quiz", "week1/day1"], tmp_path) == 0
        return capsys.readouterr().out

    return take


def test_a_whole_quiz(take):
    assert (
        take("32\na\n")
        == """\
Small: 2 questions, q to stop

1   How many lanes has a warp?
    > 32
    Right. A warp is 32 threads.

2   A warp diverges. What happens?
    a  an error
    b  both arms run
    > a
    No. Divergence is legal.
    Right is b: both arms run
    One after the other.

1 of 2 right.
2   Right is b: both arms run
    One after the other.
"""
    )


def test_what_is_no_answer_is_asked_again(take):
    assert take("many\n\n32\nz\nB\n").splitlines()[2:] == [
        "1   How many lanes has a warp?",
        "    > many",
        "    Answer with a number, such as 12, 98_432, 2**20, 1/3 or 0.5, or q to stop.",
        "    > ",
        "    Answer with a number, such as 12, 98_432, 2**20, 1/3 or 0.5, or q to stop.",
        "    > 32",
        "    Right. A warp is 32 threads.",
        "",
        "2   A warp diverges. What happens?",
        "    a  an error",
        "    b  both arms run",
        "    > z",
        "    Answer with one letter, a to b, or q to stop.",
        "    > B",
        "    Right. One after the other.",
        "",
        "2 of 2 right.",
    ]


@pytest.mark.parametrize("typed", ["32\nq\n", "32\nQ\n", "32\n", "32"])
def test_q_or_the_end_of_the_input_stops_with_the_score_so_far(take, typed):
    assert take(typed).splitlines()[-1] == "1 of 1 right, 1 question left."


def test_an_interrupt_stops_like_q(take, monkeypatch):
    def interrupt(prompt):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    assert take("").splitlines()[-1] == "0 of 0 right, 2 questions left."


def test_long_texts_wrap_to_where_they_began_and_code_keeps_its_lines(take):
    question = "What does this print?\\n\\n    for i in range(2):\\n        print(i)\\n"
    day = (
        DAY
        + f"""
[[quiz]]
question = "{question}"
choices = [
  {{ text = "{"word " * 18}", right = true, why = "{"reason " * 12}" }},
  {{ text = "x[0] and [bold]", why = "no" }},
]
"""
    )
    assert take("a\n", day).splitlines()[2:] == [
        "1   What does this print?",
        "",
        "        for i in range(2):",
        "            print(i)",
        "    a  " + " ".join(["word"] * 14),
        "       " + " ".join(["word"] * 4),
        "    b  x[0] and [bold]",
        "    > a",
        "    Right. " + " ".join(["reason"] * 10),
        "    reason reason",
        "",
        "1 of 1 right.",
    ]


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("1\n2\n3\n", ["Start with week1/day4. Your track: quick.", "You know the ground already."]),
        (
            "1\n2\n4\n",
            [
                "To look at: flops, which week1/day1 teaches.",
                "Start with week1/day1. Your track: standard.",
                "An hour a day.",
            ],
        ),
    ],
)
def test_a_diagnostic_quiz_ends_with_what_to_look_at_and_where_to_start(tmp_path, take, typed, advice):
    write(tmp_path, "week1/day0")
    write(tmp_path, "week1/day4")
    printed = take(typed, DAY + DIAGNOSTIC).splitlines()
    assert printed[-len(advice) - 1 :] == ["", *advice]


def test_a_diagnostic_quiz_that_was_stopped_recommends_nothing(take):
    assert take("1\nq\n", DAY + DIAGNOSTIC).splitlines()[-1] == "1 of 1 right, 2 questions left."


# The journal, the plan, and questions of other days ------------------------------------------------


@pytest.fixture
def ask(tmp_path, capsys, monkeypatch):
    """ask("q\\n", "--review") -> exit code, output and errors of `course quiz` when that is typed."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("CI", raising=False)

    def ask(typed: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main(["quiz", *arguments], tmp_path)
        return code, *capsys.readouterr()

    return ask


def finish(unit):
    """Record that all of a unit passed."""
    checks = [Check(task.number, "correctness") for task in unit.tasks]
    results = [Result(check.task, check.stage, SIMULATED) for check in checks]
    Progress.load(unit.root).record(unit, results, file_hash(unit.lesson), date(2026, 11, 20), checks)


def numbers(name: str, count: int) -> str:
    """A day.toml whose quiz asks so many questions, all answered by 1."""
    questions = "".join(f'\n[[quiz]]\nquestion = "{name} {n}?"\nnumber = 1\nwhy = "It is one."\n' for n in range(count))
    return DAY.replace("Small", f"About {name}") + questions


def kept(root) -> list[tuple]:
    return [(entry.unit, entry.facts) for entry in journal.read(root).of("quiz")]


def test_the_journal_hears_what_was_right_and_what_was_missed(tmp_path, ask):
    make(tmp_path, day=DAY + QUIZ)
    ask("32\na\n", "week1/day1")
    missed = ["A warp diverges. What happens?"]
    facts = {"mode": "day", "right": 1, "asked": 2, "missed": missed, "mended": []}
    assert kept(tmp_path) == [("week1/day1", facts)]
    ask("32\nb\n", "week1/day1")
    assert kept(tmp_path)[1][1] == {"mode": "day", "right": 2, "asked": 2, "missed": [], "mended": missed}


def test_who_stops_at_once_or_works_in_continuous_integration_leaves_no_trace(tmp_path, ask, monkeypatch):
    make(tmp_path, day=DAY + QUIZ)
    assert ask("q\n", "week1/day1")[0] == 0
    monkeypatch.setenv("CI", "true")
    assert ask("32\nb\n", "week1/day1")[0] == 0
    assert not (tmp_path / "journal").exists()


def test_a_journal_that_cannot_be_written_costs_one_line(tmp_path, ask):
    make(tmp_path, day=DAY + QUIZ)
    (tmp_path / "journal").write_text("a file in place of the folder")
    code, out, errors = ask("32\nb\n", "week1/day1")
    assert (code, out.splitlines()[-1], errors.count("\n")) == (0, "2 of 2 right.", 1)
    assert "cannot be written" in errors


def test_without_a_day_the_current_one_is_asked(tmp_path, ask):
    finish(make(tmp_path, "week1/day1", day=numbers("strides", 1)))
    make(tmp_path, "week1/day2", day=numbers("warps", 1))
    assert ask("1\n")[1].startswith("About warps: 1 question, q to stop\n")


def test_the_whole_diagnosis_decides_what_is_current(tmp_path, ask):
    make(tmp_path, "week1/day0", day=DAY + DIAGNOSTIC)
    make(tmp_path, "week1/day4", day=numbers("warps", 1))
    ask("1\n2\n", "week1/day0")  # stopped before the last question
    assert Progress.load(tmp_path).plan is None
    ask("1\n2\n3\n", "week1/day0")
    assert Progress.load(tmp_path).plan == Plan("week1/day4", "quick")
    assert ask("1\n")[1].startswith("About warps")


def test_a_review_of_the_diagnosis_decides_nothing(tmp_path, ask):
    make(tmp_path, "week1/day0", day=numbers("strides", 3) + DIAGNOSTIC[DIAGNOSTIC.index("[[recommend]]") :])
    assert "Your track" not in ask("1\n" * 3, "week1/day0", "--review")[1]
    assert Progress.load(tmp_path).plan is None


def test_a_review_mixes_in_what_was_missed_and_says_where_it_is_from(tmp_path, ask):
    make(tmp_path, "week1/day1", day=numbers("strides", 7))
    make(tmp_path, "week1/day2", day=numbers("warps", 2))
    make(tmp_path, "week1/day3", day=numbers("what is to come", 7))
    ask("1\n" * 5 + "2\n1\n", "week1/day1")
    _, out, _ = ask("1\n" * 7, "week1/day2", "--review")
    assert out.startswith("About warps, and what came before: 7 questions, q to stop\n")
    assert out.count("\n    (week1/day1)\n") == 5
    assert "strides 5?\n    (week1/day1)\n" in out  # the one that was missed
    assert "to come" not in out
    unit, facts = kept(tmp_path)[-1]
    assert (unit, facts["mode"], facts["mended"]) == ("week1/day2", "review", ["strides 5?"])


def test_a_review_with_nothing_before_it_says_no_more_than_it_is(tmp_path, ask):
    make(tmp_path, "week1/day1", day=numbers("strides", 1))
    assert ask("1\n", "week1/day1", "--review")[1].startswith("About strides: 1 question, q to stop\n")


def test_an_interview_keeps_its_reasons_for_the_end_and_gives_a_score_by_topic(tmp_path, ask):
    finish(make(tmp_path, "week1/day1", day=numbers("strides", 2)))
    finish(make(tmp_path, "week1/day2", day=numbers("warps", 2)))
    make(tmp_path, "week1/day3", day=numbers("what is to come", 7))
    _, out, _ = ask("1\n" * 4, "--interview")
    asked, reasons = out.split("4 of 4 right.\n")
    assert asked.startswith("Interview: 4 questions, q to stop\n")
    assert "It is one." not in asked
    assert reasons.count("    Right. It is one.\n") == 4
    assert sorted(out.splitlines()[-2:]) == ["2 of 2  About strides", "2 of 2  About warps"]
    assert kept(tmp_path)[0][1]["mode"] == "interview"


def test_an_interview_shows_the_question_again_with_the_reason_of_the_answer(tmp_path, ask):
    finish(make(tmp_path, "week1/day1", day=numbers("strides", 1)))
    assert ask("2\n", "--interview")[1].splitlines()[-7:] == [
        "0 of 1 right.",
        "",
        "1   strides 0?",
        "    > 2",
        "    No. The answer is 1. It is one.",
        "",
        "0 of 1  About strides",
    ]


def choices(count: int) -> str:
    """A day.toml whose quiz asks so many questions with four choices each; in a review the choices are shuffled."""
    wrong = "".join(f'  {{ text = "wrong {n}", why = "No {n}." }},\n' for n in range(3))
    right = '  { text = "the right one", right = true, why = "For a reason." },\n'
    return DAY + "".join(
        f'\n[[quiz]]\nquestion = "question {n}?"\nchoices = [\n{right}{wrong}]\n' for n in range(count)
    )


@pytest.mark.parametrize("options", [["week1/day1"], ["week1/day1", "--review"], ["--interview"]])
def test_a_wrong_answer_is_followed_by_the_right_one_with_its_reason(tmp_path, ask, options):
    finish(make(tmp_path, "week1/day1", day=choices(5)))
    _, out, _ = ask("d\n" * 5, *options)
    wrong = re.findall(r"    No\. No \d\.\n    Right is [abc]: the right one\n    For a reason\.\n", out)
    assert len(wrong) == out.count("    No. ")
    assert wrong or "--review" in options


@pytest.mark.parametrize("options", [["week1/day1"], ["week1/day1", "--review"], ["--interview"]])
def test_a_wrong_number_is_followed_by_the_right_one(tmp_path, ask, options):
    finish(make(tmp_path, "week1/day1", day=numbers("strides", 1).replace("number = 1\n", "number = 8004000000\n")))
    assert "    No. The answer is 8,004,000,000. It is one.\n" in ask("2\n", *options)[1]


def test_a_number_may_be_written_in_many_ways_and_what_is_none_is_asked_again(tmp_path, ask):
    make(tmp_path, "week1/day1", day=numbers("strides", 4).replace("number = 1\n", "number = 2147483648\n"))
    _, out, _ = ask("nan\ninf\n\n2,147,483,648\n2_147_483_648\n2*1024**3\n2**31\n", "week1/day1")
    assert out.count("Answer with a number") == 3
    assert out.splitlines()[-1] == "4 of 4 right."


def test_no_day_is_named_that_does_not_exist_yet(tmp_path, ask):
    make(tmp_path, "week1/day0", day=DAY + DIAGNOSTIC)
    out = ask("1\n2\n4\n", "week1/day0")[1]
    assert "To look at: flops, which no day here teaches yet.\nStart with week1/day0. " in out
    assert "week1/day1" not in out
    assert Progress.load(tmp_path).plan == Plan("week1/day0", "half an hour a day")


@pytest.mark.parametrize(("arguments", "line"), [
    (["--interview"], "No day is done yet, so there is nothing to ask about.\nWhat is next: ./course next"),
    (["--interview", "--review"], "--interview asks about all that you have done: leave --review out."),
    (["week1/day1", "--interview"], "--interview asks about all that you have done: leave week1/day1 out."),
    (["week1/day1", "--review"], "week1/day1 has no quiz, and no other day is begun.\nWhat is next: ./course next"),
    (["week1/day1"], "week1/day1 has no quiz. To work it: ./course week1/day1"),
])  # fmt: skip
def test_where_there_is_nothing_to_ask_it_says_why(tmp_path, ask, arguments, line):
    make(tmp_path)
    assert ask("", *arguments) == (2, "", f"{line}\n")
