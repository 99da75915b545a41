"""The learner's copy and the course's: what git knows of them, a stub taken back, new material merged in."""
