"""Accounts without a password."""
