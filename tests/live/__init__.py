"""Rooms at work: actors, logs on real engines, several nodes."""
