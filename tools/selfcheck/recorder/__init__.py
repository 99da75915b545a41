"""The folder that a recorded process has on its PYTHONPATH: its one module is imported as Python starts."""
