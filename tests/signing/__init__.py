"""Tests of keys and signatures."""
