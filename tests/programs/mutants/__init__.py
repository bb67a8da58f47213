"""Seeded bugs, one patch each: `make mutants` shows that the tests see every one of them."""
