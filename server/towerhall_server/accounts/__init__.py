"""Accounts without a password: passkeys, recovery codes, the devices of a person.

`account`, `codes`, `devices` and `passkeys` are pure, `store` has the keys in the store, `service`
joins them. No route may live here, and no connection is looked at: `access` judges tokens.
"""

__all__ = [
    "account",
    "codes",
    "devices",
    "passkeys",
    "service",
    "store",
]
