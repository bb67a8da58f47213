"""The version of what travels: one whole number, raised by one with every change of the wire.

Client and server say their level in `hello` and `welcome`. What each level added stands in
`protocol/CHANGELOG.md`; a server serves every level from `OLDEST_LEVEL` on.
"""

LEVEL = 6
OLDEST_LEVEL = 1

MSGPACK = "towerhall.v1.msgpack"
JSON = "towerhall.v1.json"
SUBPROTOCOLS = (MSGPACK, JSON)
"""Twins: the same messages, as msgpack in binary messages or as JSON in text messages."""
