"""An answer is right, wrong for a reason, or no answer; a diagnostic quiz says where to go."""

import pytest

from tools.course.day_file import Choice, Question
from tools.course.quiz import NotAnAnswer, Verdict, judge, letters, missed_topics, recommendation
from tools.tests.course.miniature import DAY, DIAGNOSTIC, make

LANES = Question("How many lanes has a warp?", number=32, why="A warp is 32 threads.")
HALF = Question("Occupancy?", number=0.5, why="Half of the warps.")
HUGE = Question("How many?", number=2**60 + 1, why="Counted.")
ARMS = Question(
    "A warp diverges. What happens?",
    choices=(
        Choice("an error", "Divergence is legal."),
        Choice("both arms run", "One after the other.", right=True),
    ),
)


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        (LANES, "32", True),
        (LANES, " 3_2 ", True),
        (LANES, "32.0", True),
        (LANES, "3.2e1", True),
        (LANES, "31", False),
        (LANES, "-32", False),
        (LANES, "32.0001", False),
        (LANES, "nan", False),
        (HALF, "0.5", True),
        (HALF, ".5", True),
        (HALF, "0.50000001", False),
        (HUGE, str(2**60 + 1), True),
        (HUGE, str(2**60), False),  # the same float64
    ],
)
def test_a_number_must_be_equal_however_it_is_written(question, answer, right):
    assert judge(question, answer) == Verdict(right, question.why)


@pytest.mark.parametrize("answer", ["", "thirty", "1,024", "1 024", "1/2", "3 2", "a"])
def test_what_is_no_number_is_no_answer(answer):
    with pytest.raises(
        NotAnAnswer, match=r"^Answer with a number, such as 12, 98_432 or 0\.5, or q to stop\.$"
    ):
        judge(LANES, answer)


def test_choices_are_lettered_in_the_order_written():
    assert letters(ARMS) == {"a": ARMS.choices[0], "b": ARMS.choices[1]}
    assert letters(LANES) == {}


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("a", Verdict(False, "Divergence is legal.")),
        ("b", Verdict(True, "One after the other.")),
        (" B ", Verdict(True, "One after the other.")),
    ],
)
def test_a_choice_has_a_reason_of_its_own(answer, verdict):
    assert judge(ARMS, answer) == verdict


@pytest.mark.parametrize("answer", ["", "c", "ab", "1", "both arms run"])
def test_what_is_none_of_the_letters_is_no_answer(answer):
    with pytest.raises(NotAnAnswer, match=r"^Answer with one letter, a to b, or q to stop\.$"):
        judge(ARMS, answer)


@pytest.mark.parametrize(
    ("score", "start"), [(0, "week1/day0"), (1, "week1/day0"), (2, "week1/day1"), (3, "week1/day4")]
)
def test_the_highest_bar_that_the_score_clears_decides_the_start(tmp_path, score, start):
    unit = make(tmp_path, day=DAY + DIAGNOSTIC)
    verdicts = [Verdict(number < score, "") for number in range(3)]
    assert recommendation(unit, verdicts).start == start


def test_a_unit_that_recommends_nothing_has_no_recommendation(tmp_path):
    assert recommendation(make(tmp_path), []) is None


def test_missed_topics_are_named_once_with_the_day_that_teaches_them(tmp_path):
    unit = make(tmp_path, day=DAY + DIAGNOSTIC)
    wrong, right = Verdict(False, ""), Verdict(True, "")
    assert missed_topics(unit, [wrong, wrong, right]) == {"strides": "week1/day0"}
    assert missed_topics(unit, [right, right, wrong]) == {"flops": "week1/day1"}
    assert missed_topics(unit, [right]) == {}
