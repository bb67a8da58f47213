"""The store, seen as bytes: connections, pipelines, and an embedded engine.

Nothing here may know rooms, people or the meaning of a key.
"""

__all__ = [
    "address",
    "backup",
    "batch",
    "check",
    "cluster",
    "connection",
    "data_folder",
    "endpoint",
    "engine",
    "errors",
    "opening",
    "primaries",
    "resp",
    "sentinels",
    "slots",
    "startup",
]
