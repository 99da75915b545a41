"""Hands pytest over to the course's own plugin; everything it does is in tools/pytest_course."""

pytest_plugins = ["tools.pytest_course"]
