"""What an edit replaced: the same statements as in the tree of the whole text, and few where few are touched."""

import ast

import pytest

from tools.course.content.syntax import edited

TEXT = '''
"""A lesson."""

import math

if math:
    SIZE = 4


@cache
def total(values):
    result = 0
    return result


# Task 1
class Sum:
    up = 1


A = 1; B = """
b
"""
END = 2
'''


def dumps(tree: ast.Module) -> list[str]:
    return list(map(ast.dump, tree.body))


@pytest.mark.parametrize("old, new, gone", [
    ("result = 0", "result = 1", 1),
    ("    result = 0\n", "", 1),
    ("@cache", "@cache(4)", 1),
    ("A lesson.", "Another.", 1),
    ("END = 2", "END = 3", 1),
    ("    return result", "return result", 1),
    ("    SIZE = 4\n", "    SIZE = 4\nMORE = 5\nLESS = 3\n", 1),
    ("# Task 1\n", "# Task 1\nFIRST = 1\n", 0),
    ("# Task 1\n", "", 1),
    ("\n\n@cache\ndef total(values):\n    result = 0\n    return result\n", "", 1),
    ("b\n", "c\n", 2),
    ("A = 1", "A = 2", 2),
    ("    SIZE = 4\n", "    SIZE = 4\nelse:\n    SIZE = 3\n", 1),
    ("class Sum", "@cache\nclass Sum", 8),
    ("END", "END", 0),
])  # fmt: skip
def test_the_new_statements_stand_where_those_that_are_gone_stood(old, new, gone):
    after = TEXT.replace(old, new, 1)
    before, taken, put = dumps(ast.parse(TEXT)), *map(dumps, edited(TEXT, after))
    assert len(taken) == gone
    assert dumps(ast.parse(after)) in [
        before[:start] + put + before[start + gone :]
        for start in range(len(before) + 1)
        if before[start : start + gone] == taken
    ]


def test_a_fault_is_told_with_its_line_in_the_whole_text():
    with pytest.raises(SyntaxError) as caught:
        edited(TEXT, TEXT.replace("END = 2", "END ="))
    assert caught.value.lineno == 24
