"""Notes of what the running test measured, in a few words: reports show them beside the test."""

taken: list[str] = []  # the plugin empties it before each test
