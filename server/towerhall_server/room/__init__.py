"""Rooms: one table each, with its seats, its game and everybody who looks."""
