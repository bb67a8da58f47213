"""Tests of rooms: their records, without store or socket."""
