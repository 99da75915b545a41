"""Kernels as people write them: correct ones, with inputs and an oracle each; mutants of them; faulty ones.

The correct kernels are the simulator's guard against false alarms: all of them run with every check on.
"""
