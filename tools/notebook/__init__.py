"""A day as a notebook: `build` writes it; `magic` and `widgets` are what its cells call when they run."""
