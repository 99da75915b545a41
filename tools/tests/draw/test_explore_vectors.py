"""The plane with a query and a key: what is said of them, and where the key and those like it lie."""

from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest

from tools.draw import explore
from tools.draw.explore.page import WIDTH

LENGTHS = [(2, 2), (1.5, 3), (0.25, 1), (3, 3)]
ANGLES = [0, 60, 90, 135, 180, -135, -60, -5]


def drawn(svg: str, tag: str) -> list[ElementTree.Element]:
    """All parts of the picture of one kind."""
    return ElementTree.fromstring(svg).findall(f".//{{*}}{tag}")


def told(svg: str) -> list[float]:
    """The numbers for score and cosine in the line below the title."""
    score, cosine = drawn(svg, "desc")[0].text.split(":")[0].split("; ")
    return [float(score.removeprefix("score ")), float(cosine.removeprefix("cosine "))]


def ends(line: ElementTree.Element) -> np.ndarray:
    """Pixels of its two ends."""
    return np.array([float(line.get(name)) for name in ("x1", "y1", "x2", "y2")]).reshape(2, 2)


def vectors_and_lines(svg: str) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Query and key in pixels from the origin, y upwards, and the ends of the lines of keys that are like this one."""
    origin, query = ends(next(line for line in drawn(svg, "line") if "mark" in line.get("class")))
    key = ends(next(line for line in drawn(svg, "line") if "curve" in line.get("class")))[1]
    alike = [(ends(line) - origin) * (1, -1) for line in drawn(svg, "line") if line.get("class") == "axis"]
    return (query - origin) * (1, -1), (key - origin) * (1, -1), alike


@pytest.mark.parametrize("length, query_length", LENGTHS)
@pytest.mark.parametrize("angle", ANGLES)
def test_score_and_cosine_are_those_of_the_vectors_that_are_drawn(angle, length, query_length):
    svg = explore.dot_product(angle, length, query_length)
    query, key, _ = vectors_and_lines(svg)
    pixels = np.linalg.norm(query) / query_length
    score = query @ key / pixels**2
    assert told(svg) == pytest.approx([score, score / (length * query_length)], abs=0.011)


@pytest.mark.parametrize("length, query_length", LENGTHS)
@pytest.mark.parametrize("angle", ANGLES)
def test_keys_on_the_lines_have_the_score_of_this_one_or_its_cosine(angle, length, query_length):
    query, key, (equal_scores, *equal_cosines) = vectors_and_lines(explore.dot_product(angle, length, query_length))
    assert equal_scores @ query == pytest.approx([query @ key] * 2, abs=2)
    assert len(equal_cosines) == 2
    for origin, end in equal_cosines:
        assert np.allclose(origin, 0)
        assert end @ query / np.linalg.norm(end) == pytest.approx(key @ query / np.linalg.norm(key), abs=1)


@pytest.mark.parametrize("length, query_length", [(0, 2), (2, 0), (0, 0)])
def test_a_zero_vector_has_no_angle_and_no_keys_of_its_cosine(length, query_length):
    svg = explore.dot_product(60, length, query_length)
    assert drawn(svg, "desc")[0].text == "score 0; cosine 0: a zero vector has no angle"
    assert len([line for line in drawn(svg, "line") if line.get("class") == "axis"]) == (query_length > 0)


@pytest.mark.parametrize("length, query_length", LENGTHS)
def test_the_words_lie_inside_the_picture_and_not_on_each_other(length, query_length):
    for angle in range(-180, 185, 5):
        boxes = [place(words) for words in drawn(explore.dot_product(angle, length, query_length), "text")]
        for left, right, *_ in boxes:
            assert left >= 0 and right <= WIDTH, angle
        for (left, right, top, bottom), (left_2, right_2, top_2, bottom_2) in combinations(boxes, 2):
            assert right <= left_2 or right_2 <= left or bottom <= top_2 or bottom_2 <= top, angle


def place(words: ElementTree.Element) -> tuple[float, float, float, float]:
    """About where words stand, in pixels: left, right, top, bottom."""
    width = 6 * len(words.text)
    left = float(words.get("x")) - {"middle": width / 2, "end": width}.get(words.get("text-anchor"), 0)
    return left, left + width, float(words.get("y")) - 9, float(words.get("y"))
