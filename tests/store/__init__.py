"""Connections and engines, on the real thing."""
