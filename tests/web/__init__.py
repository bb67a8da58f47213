"""The page: its build, and its own unit tests."""
