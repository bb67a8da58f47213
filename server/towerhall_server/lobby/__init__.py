"""The lobby: which rooms there are, and how people come together in them."""
