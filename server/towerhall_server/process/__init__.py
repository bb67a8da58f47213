"""The process around the service: workers, draining, background tasks, garbage, descriptors.

Nothing here may know rooms or the store.
"""

__all__ = [
    "background",
    "descriptors",
    "draining",
    "garbage",
    "workers",
]
