"""Lists of accesses for the tests of find_race: an oracle, an example, and what is wrong with an answer.

An access is (thread, barriers, operation, element), as in find_race. Read it after task 4.
"""


def tiles_turned(threads, tiles, barriers_a_tile):
    """The accesses of mirror: threads come one after the other, between barriers."""
    accesses = []
    for tile in range(tiles):
        passed = barriers_a_tile * tile
        accesses += [(t, passed, "store", t) for t in range(threads)]
        accesses += [(t, passed + 1, "load", threads - 1 - t) for t in range(threads)]
    return accesses


def in_order(access, before):
    """Why two accesses do not race; None if they do."""
    (thread, barriers, operation, element), (other, passed, did, where) = access, before
    reasons = {"one thread made both": thread == other, "they are of two elements": element != where,
               "a barrier lies between them": barriers != passed,
               f"both are {operation}s": operation == did != "store"}
    return next((reason for reason, holds in reasons.items() if holds), None)


def first_race(accesses):
    """Each access against all before it."""
    pairs = ((later, earlier) for later in range(len(accesses)) for earlier in range(later))
    return next((pair for pair in pairs if in_order(*(accesses[place] for place in pair)) is None), None)


def told(accesses, found, wanted):
    """What is wrong with an answer of find_race, and the accesses that it is about."""
    match found:
        case None:
            (thread, _, does, element), (other, _, did, _) = (accesses[place] for place in wanted)
            text = f"{wanted} is a race: {does} and {did} of element {element} by threads {thread} and {other}."
        case tuple((int(later), int(earlier))) if len(accesses) > later > earlier >= 0:
            text = not_the_first(accesses, found, wanted)
        case _:
            return "A race is a tuple: the place of the later access, then that of the earlier. No race is None."
    places = sorted({*(found or ()), *(wanted or ())})
    return "\n".join([text, *(f"Access {place}: {accesses[place]}" for place in places)])


def not_the_first(accesses, found, wanted):
    later, earlier = found
    if reason := in_order(accesses[later], accesses[earlier]):
        return f"{found} is no race: {reason}."
    if later == wanted[0]:
        return f"{found} and {wanted} are races: the earlier access that comes first in the list counts."
    return f"{found} is a race, but access {wanted[0]} races too, and comes before access {later}."
