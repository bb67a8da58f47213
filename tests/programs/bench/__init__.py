"""Benchmarks: figures, not tests. `make bench` runs them all."""
