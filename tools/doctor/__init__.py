"""The doctor: what is on this machine that the course needs, what is missing, and what to do about it."""
