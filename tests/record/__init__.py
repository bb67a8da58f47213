"""Records of finished games, and what forgers try."""
