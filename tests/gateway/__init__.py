"""Tests of the gateway: sockets, and what is written to them."""
