"""What the course knows: of its content, of its learner, and of the versions of both."""
