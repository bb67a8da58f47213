"""The games, one folder each. `game.discover` finds them; nothing is listed here."""
