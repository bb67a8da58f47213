"""Operators of other lobbies."""
