"""What stands in for hardware where there is none, and counts what the hardware would do."""
