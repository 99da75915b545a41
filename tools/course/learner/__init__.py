"""The learner: what they wrote, what passed, what they did and noted, and what comes next."""
