"""Published figures: measured on a GPU machine into benchmarks/*.json, and shown in BENCHMARKS.md from there alone."""
