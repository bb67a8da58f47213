"""The server's Ed25519 keys: they sign statements about rooms and checkpoints of the public log.

Private keys never leave this package. `history` publishes when each key was valid.
"""

__all__ = [
    "history",
    "keys",
    "signer",
]
