"""Rules for the tests of a unit: sentences for names, a task for each, no literal seeds."""

import ast

from tools.selfcheck.static.material import Material, Problem, Problems

FEWEST_WORDS = 3
SEEDERS = {"default_rng", "manual_seed", "manual_seed_all", "seed", "RandomState", "Random", "PRNGKey"}


def test_names_are_sentences(m: Material) -> Problems:
    seen = set()
    for test in m.test_functions:
        where = m.at(m.unit.tests, test.lineno)
        if len(test.name.split("_")[1:]) < FEWEST_WORDS:
            yield Problem(
                where, f"{test.name} is not a sentence; say what the lesson does, in {FEWEST_WORDS} words or more"
            )
        if test.name in seen:
            yield Problem(where, f"{test.name} is defined twice; pytest would run only the second")
        seen.add(test.name)


def every_test_has_a_task(m: Material) -> Problems:
    known = set(m.tasks)
    tested = set()
    for test in m.test_functions:
        tasks = task_marks(test)
        tested |= tasks
        where = m.at(m.unit.tests, test.lineno)
        if not tasks:
            yield Problem(where, f"{test.name} has no @pytest.mark.task(n)")
        for number in sorted(tasks - known):
            yield Problem(where, f"{test.name} is for task {number}, which the lesson does not have")
    for number in sorted(known - tested):
        yield Problem(m.at(m.unit.tests), f"no test is for task {number}")


def no_literal_seeds(m: Material) -> Problems:
    """A fixed seed tests one draw for ever; the fixture rng draws anew and can be replayed."""
    for node in ast.walk(m.tests_tree):
        if isinstance(node, ast.Call) and _name(node.func) in SEEDERS:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(isinstance(v, ast.Constant) and isinstance(v.value, int) for v in values):
                yield Problem(
                    m.at(m.unit.tests, node.lineno), f"a literal seed for {_name(node.func)}; use the fixture rng"
                )


def task_marks(test: ast.FunctionDef) -> set[int]:
    """The numbers in the @pytest.mark.task(...) of a test."""
    calls = [d for d in test.decorator_list if isinstance(d, ast.Call) and ast.unparse(d.func) == "pytest.mark.task"]
    return {arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)}  # type: ignore[misc]


RULES = [test_names_are_sentences, every_test_has_a_task, no_literal_seeds]


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
