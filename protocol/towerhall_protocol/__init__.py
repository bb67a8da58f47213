"""Shared parts of client and server: documents, patches, offers, the codec and the fairness recipe.

Nothing in this package does I/O or knows a game's rules.
"""
