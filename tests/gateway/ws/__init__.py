"""WebSockets, byte by byte."""
