"""Pictures of every screen of the page, for people who look whether one of them looks wrong."""
