"""The store, seen as bytes: connections, pipelines, and an embedded engine.

Nothing here may know rooms, people or the meaning of a key.
"""

__all__ = [
    "address",
    "backup",
    "batch",
    "check",
    "connection",
    "data_folder",
    "engine",
    "errors",
    "opening",
    "primaries",
    "resp",
    "startup",
]
