"""The Towerhall server: games, rooms, the event log and the gateway."""
