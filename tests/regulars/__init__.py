"""Histories, ratings and what belongs to people who come back."""
