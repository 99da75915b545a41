"""The course's knowledge: of its content, of its learner, and of the versions of both."""
