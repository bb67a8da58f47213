"""Tests of the public log."""
