"""The address of the learner's copy, as others can open it; never a password."""

import pytest

from tools.course.versions.remote import from_url, pushed_branch, web_address
from tools.tests.course.versions.under_git import begin, git

ADDRESSES = [
    ("git@github.com:ada/course.git", "https://github.com/ada/course"),
    ("ssh://git@github.com/ada/course", "https://github.com/ada/course"),
    ("ssh://git@host.example:2222/ada/course.git", "https://host.example/ada/course"),
    ("https://github.com/ada/course.git", "https://github.com/ada/course"),
    ("https://ada:secret@github.com/ada/course.git", "https://github.com/ada/course"),
    ("https://github.com/ada/course/", "https://github.com/ada/course"),
    ("/home/ada/course", None),
    ("../course", None),
    ("file:///home/ada/course", None),
    ("", None),
]


@pytest.mark.parametrize("url, address", ADDRESSES)
def test_a_remote_becomes_an_address_without_a_password(url, address):
    assert from_url(url) == address


def test_a_course_without_a_remote_or_without_git_has_no_address(tmp_path):
    assert web_address(tmp_path) is None
    begin(tmp_path)
    assert (web_address(tmp_path), pushed_branch(tmp_path)) == (None, None)


def test_the_branch_is_the_one_that_was_pushed(tmp_path):
    root = begin(tmp_path / "course")
    git(root, "init", "--quiet", "--bare", str(tmp_path / "there"))
    git(root, "remote", "add", "origin", str(tmp_path / "there"))
    git(root, "switch", "--quiet", "--create", "learner/ada")
    assert pushed_branch(root) is None
    git(root, "push", "--quiet", "--set-upstream", "origin", "learner/ada")
    assert pushed_branch(root) == "learner/ada"
