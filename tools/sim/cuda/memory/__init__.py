"""Memory of a launch: lanes and what they access, arrays and where they lie, counts, races."""
