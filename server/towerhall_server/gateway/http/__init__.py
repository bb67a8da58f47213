"""HTTP: routes, request bodies, the page and the documentation.

No socket and no decision may live here.
"""

__all__ = [
    "account_routes",
    "cors",
    "docs",
    "live_routes",
    "lobby_routes",
    "log_routes",
    "operator_routes",
    "page",
    "previews",
    "protection",
    "push_routes",
    "regular_routes",
]
