"""Where rooms are kept: a log for each in Redis or Valkey, and an engine for who has none."""
