"""What was written by another version: older rules, older events, newer servers."""
