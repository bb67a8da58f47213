"""What is needed to run several servers: validated as far as it can be without containers."""
