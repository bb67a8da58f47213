"""Tests of what client and server share."""
