"""What the course knows of itself and of its learner: its days and katas, hints, quizzes and progress."""
