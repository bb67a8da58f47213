"""The log, and everything about storage, on real engines."""
