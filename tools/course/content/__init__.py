"""The course as it was written: its units and what their files say. Nothing here depends on a learner."""
