"""Programs that wait for one another.

Kernels that can wait have their programs in flight together (`schedule.py`): they take turns at atomics and volatile
loads, and a program that looks at the same memory again and again stands aside until that changes (`loops.py`). When
none can go on, `deadlocks.py` says why. `launch.py` is where a launch comes in; its accesses go through `hooks.py`.
"""
