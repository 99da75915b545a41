"""Simulators: they stand in for hardware where there is none, and count what it would do."""
