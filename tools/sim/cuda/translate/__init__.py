"""From a Python function to a program for all lanes: rules, types, and the rewritten syntax tree."""
