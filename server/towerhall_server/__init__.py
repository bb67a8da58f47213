"""The Towerhall server: the games, the event log and the command line."""
