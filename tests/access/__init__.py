"""Tokens, rates and names."""
