"""The tests of the log once more, on a primary behind sentinels and on a cluster."""
