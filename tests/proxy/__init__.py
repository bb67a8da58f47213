"""Proxies that stand between a client and a server or store, and cause accidents on the way.

`carrier` accepts connections and carries bytes; `store`, `faults` and `gate` add their accidents.
`cutting` counts bytes exactly, so it has a transport of its own. No proxy may live elsewhere.
"""
