"""Requests to addresses that others have chosen: which hosts may be asked, and one bounded POST.

No meaning of a request may live here: operators and push services differ in headers and retries.
"""

__all__ = ["posting"]
