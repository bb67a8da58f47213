"""Makes the secrets that docker-compose.yml hands to its containers, in a folder of files:

    python3 server/new_secrets.py            into the folder `secrets`
    python3 server/new_secrets.py FOLDER     into another one

A key or password that is there stays. The users of the store are written anew each time, for the
rights that a server needs may change with its version. Nothing but the standard library is needed.
"""

import hashlib
import secrets
import sys
from pathlib import Path

KEYS = "token_keys"
SIGNING = "signing_keys"
PASSWORD = "store_password"  # noqa: S105 - the name of a file
USERS = "store_users"
USER = "towerhall"
OWN = f"~{USER}:* &{USER}:*"
"""Keys and channels that servers use: they and no others."""
COMMANDS = """
    append asking cluster|info cluster|slots config|get del eval evalsha exists get hdel hexists
    hget hgetall hincrby hkeys hlen hmget hset info lpush lrange ltrim persist pexpire ping pttl
    publish rename role sadd set smembers spop spublish srandmember srem ssubscribe strlen
    subscribe sunsubscribe time unsubscribe wait xadd xdel xrange xrevrange xtrim zadd zcard
    zcount zrange zrangebyscore zrem zremrangebyrank zremrangebyscore zrevrange
    zrevrangebyscore zrevrank zscore
"""
"""All that servers and `towerhall rooms` ask of the store, and what their scripts do there."""


def users(password: str) -> str:
    """The store's file of users: one for servers. Without a name one may only ask `PING`."""
    digest = hashlib.sha256(password.encode()).hexdigest()
    allowed = " ".join(f"+{command}" for command in COMMANDS.split())
    return (
        "user default on nopass resetkeys resetchannels -@all +ping\n"
        f"user {USER} on #{digest} resetkeys resetchannels {OWN} -@all {allowed}\n"
    )


def make(folder: Path) -> None:
    """Write what is missing. Containers run as other users: the folder keeps strangers out."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for name in (KEYS, SIGNING, PASSWORD):
        path = folder / name
        if not path.exists():
            path.write_text(secrets.token_urlsafe(32) + "\n")
            path.chmod(0o444)
    path = folder / USERS
    path.unlink(missing_ok=True)
    path.write_text(users((folder / PASSWORD).read_text().strip()))
    path.chmod(0o444)


if __name__ == "__main__":
    make(Path(*sys.argv[1:2]) if sys.argv[1:] else Path("secrets"))
