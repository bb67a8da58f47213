"""Operators of other lobbies: their keys, their people, bans, and webhooks about their rooms."""
