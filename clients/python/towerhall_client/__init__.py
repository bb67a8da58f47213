"""The Python client: everything that plays or watches without knowing any rules."""
