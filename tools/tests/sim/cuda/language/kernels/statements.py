"""Statements."""

from tools.tests.sim.cuda.language.verdicts import cuda, refused, runs, unknown

SIZE = 4


@runs
def if_and_else(a):
    if a[0] > 1:
        a[1] = 1
    elif a[0] > 0:
        a[1] = 2
    else:
        pass


@runs
def for_over_a_range_with_else(a):
    for i in range(3, 0, -1):
        if a[i] > 2:
            break
    else:
        a[0] = 1


@runs
def while_with_else(a):
    i = 0
    while i < 3:
        i += 1
        if a[i] > 2:
            continue
    else:
        a[0] = i


@runs
def for_over_a_tuple(a):
    for x in (1.0, 2.0):
        a[0] += x


@runs
def for_over_an_array(a):
    for x in a:
        a[0] += x


@runs
def early_return(a):
    if a[0] > 1:
        return
    a[0] = 1


@runs
def return_of_none(a):
    if a[0] > 1:
        return None
    a[0] = 1


@runs
def annotations(a: object, n: int) -> None:
    x: float = 1
    y: int
    y = n
    a[0] = x + y


@runs
def docstring(a):
    """Says what it does."""
    a[0] = 1


@runs
def global_that_is_read(a):
    global SIZE
    a[0] = SIZE


@runs
def type_that_differs_between_branches(a):
    if a[0] > 1:
        x = 1
    else:
        x = 2.5
    a[0] = x


@refused
def try_except(a):
    try:
        a[0] = 1
    except Exception:
        a[0] = 2


@refused
def try_finally(a):
    try:
        a[0] = 1
    finally:
        a[0] = 2


@refused
def with_statement(a):
    with open("file"):
        a[0] = 1


@refused
def yield_value(a):
    yield a[0]


@refused
def class_inside(a):
    class Inner:
        pass

    a[0] = 1


@refused
def import_inside(a):
    import math

    a[0] = math.pi


@refused
def global_that_is_set(a):
    global SIZE
    SIZE = 3
    a[0] = SIZE


@refused
def global_that_is_added_to(a):
    global SIZE
    SIZE += 1


@refused
def delete_variable(a):
    x = a[0]
    del x
    a[0] = 1


@refused
def delete_element(a):
    del a[0]


@runs
def raise_error(a):
    if a[0] > 1:
        raise ValueError("too large")
    a[0] = 1


@refused
def raise_with_a_value(a):
    raise ValueError(a[0])


@refused
def raise_from_another(a):
    raise ValueError("too large") from None


@runs
def assert_something(a):
    assert a[0] > 1, "too small"
    a[0] = 1


@refused
def assert_with_a_value(a):
    assert a[0] > 1, a[0]


@unknown
def match_statement(a):
    match cuda.threadIdx.x:
        case 0:
            a[0] = 1
        case _:
            a[0] = 2


@unknown
def function_inside(a):
    def increment(x):
        return x + 1

    a[0] = increment(a[1])


@unknown
def nonlocal_variable(a):
    x = 1

    def change():
        nonlocal x
        x = 2

    change()
    a[0] = x
