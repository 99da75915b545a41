"""What a call moved, as bars: in a terminal and as SVG."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tools.draw import moved, touches
from tools.sim import cupy
from tools.tests.draw.kernels import add, counted, picture, zeros


def there_and_back(count: int) -> moved.Moved:
    def run():
        x = cupy.asarray(zeros(count))
        cupy.asnumpy(x @ x + x.sum())

    return moved.moved(f"there and back, {count} float32", counted(run))


def test_each_step_has_a_bar_as_long_as_its_bytes():
    lines = moved.terminal(there_and_back(1024)).splitlines()
    assert lines[:3] == ["there and back, 1024 float32", moved.HEADING, ""]
    found = {re.split(r"  +", line)[0]: re.split(r"  +", line)[1:] for line in lines[3:]}
    assert found["host to GPU"][:2] == ["1 upload", "4,096 bytes"]
    assert found["GPU to host"] == ["1 download", "4 bytes", "#"]
    assert found["cupy.matmul"] == ["1 call", "not counted"]
    assert len(found["host to GPU"][2]) > 20 and list(found)[0] == "host to GPU" and list(found)[-1] == "GPU to host"


@pytest.mark.parametrize("width", [50, 64, 80])
def test_it_fits_the_screen(width):
    assert max(map(len, moved.terminal(there_and_back(1024), width).splitlines())) <= width


def test_nothing_moved_is_no_picture():
    assert moved.moved("nothing", counted(lambda: None)) is None


def test_the_file_holds_it_beside_pictures_of_kernels():
    drawn = picture(lambda: add[3, 4](zeros(10), zeros(10), zeros(10)), "add, 10 float32")
    text = touches.svg(drawn, there_and_back(64))
    words = [each.text for each in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert {"add, 10 float32", "there and back, 64 float32", "host to GPU", "1 upload", "256 bytes"} <= set(words)
