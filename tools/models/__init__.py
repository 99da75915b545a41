"""The mathematics of the machine: plain functions over plain numbers, standard library and NumPy only."""
