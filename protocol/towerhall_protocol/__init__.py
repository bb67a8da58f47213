"""What client and server share: documents, patches, offers, the codec and the fairness recipe.

Nothing in this package does I/O or knows a game's rules.
"""
