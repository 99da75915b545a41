"""Accesses of different programs to the same memory, and what puts them in order, if anything does.

`check.py` takes in every access of a launch, `shadow.py` remembers who was where last, `clocks.py` knows which program
knows of which, and `words.py` says what is wrong and what is missing.
"""
