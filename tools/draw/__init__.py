"""Pictures of what kernels do and of what the models say: text for a terminal, SVG for a page. Pure functions."""
