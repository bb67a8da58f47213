"""The command line: the one place that may import both server and client."""
