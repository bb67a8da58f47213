"""Who may do how much: tokens, keys, origins, hosts, names, rates, quotas, bans, the audit log.

No route, socket or running room may live here.
"""

__all__ = [
    "admission",
    "arrivals",
    "audit",
    "chat_rates",
    "hosts",
    "names",
    "origins",
    "quotas",
    "rates",
    "revocations",
    "token_keys",
    "tokens",
]
