"""Tests of the games: the laws that hold for every one, and each game's own rules."""
