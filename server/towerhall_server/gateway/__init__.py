"""Connections and requests: what comes in from outside, and what goes out."""
