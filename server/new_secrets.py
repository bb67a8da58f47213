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
KEEPER_PASSWORD = "keeper_password"  # noqa: S105 - the name of a file
USERS = "store_users"
STORE_CONFIG = "store_config"
SENTINEL_CONFIG = "sentinel_config"
USER = "towerhall"
KEEPER = "keeper"
"""The user that engines, sentinels and the maker of a cluster are to an engine. It sees no key."""
KEEPING = """
    client|kill client|setname cluster config|rewrite exec info multi ping psync publish replconf
    role script|kill slaveof subscribe
"""
NAME = "towers"
"""The name that sentinels know the primary by."""
OWN = f"~{USER}:* &{USER}:*"
"""Keys and channels that servers use: they and no others."""
COMMANDS = """
    append asking cluster|info cluster|slots config|get del eval evalsha exists get hdel hexists
    hget hgetall hincrby hkeys hlen hmget hset info lpush lrange ltrim persist pexpire ping pttl
    publish rename role sadd set sismember smembers spop spublish srandmember srem ssubscribe strlen
    subscribe sunsubscribe time unsubscribe wait xadd xdel xrange xrevrange xtrim zadd zcard
    zcount zrange zrangebyscore zrem zremrangebyrank zremrangebyscore zrevrange
    zrevrangebyscore zrevrank zscore
"""
"""All that servers and `towerhall rooms` ask of the store, and what their scripts do there."""


def users(password: str, keeper: str) -> str:
    """The store's file of users: one for servers, one for engines and sentinels. Without a name one
    may only ask `PING`."""
    digest, its = (hashlib.sha256(each.encode()).hexdigest() for each in (password, keeper))
    allowed, keeping = (
        " ".join(f"+{command}" for command in each.split()) for each in (COMMANDS, KEEPING)
    )
    return (
        "user default on nopass resetkeys resetchannels -@all +ping\n"
        f"user {KEEPER} on #{its} resetkeys resetchannels &__sentinel__:* -@all {keeping}\n"
        f"user {USER} on #{digest} resetkeys resetchannels {OWN} -@all {allowed}\n"
    )


def store_config(keeper: str) -> str:
    """The part of an engine's settings that is secret: as whom it follows another one."""
    return f"masteruser {KEEPER}\nmasterauth {keeper}\n"


def sentinel_config(keeper: str, primary: str = "store 6379") -> str:
    """The first settings of a sentinel. Two of three sentinels have to agree."""
    return f"""\
dir /data
protected-mode no
sentinel resolve-hostnames yes
sentinel announce-hostnames yes
sentinel monitor {NAME} {primary} 2
sentinel auth-user {NAME} {KEEPER}
sentinel auth-pass {NAME} {keeper}
sentinel down-after-milliseconds {NAME} 3000
sentinel failover-timeout {NAME} 30000
"""


def make(folder: Path) -> None:
    """Write what is missing. Containers run as other users: the folder keeps strangers out."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for name in (KEYS, SIGNING, PASSWORD, KEEPER_PASSWORD):
        path = folder / name
        if not path.exists():
            path.write_text(secrets.token_urlsafe(32) + "\n")
            path.chmod(0o444)
    password, keeper = ((folder / name).read_text().strip() for name in (PASSWORD, KEEPER_PASSWORD))
    made = {
        USERS: users(password, keeper),
        STORE_CONFIG: store_config(keeper),
        SENTINEL_CONFIG: sentinel_config(keeper),
    }
    for name, text in made.items():
        path = folder / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o444)


if __name__ == "__main__":
    make(Path(*sys.argv[1:2]) if sys.argv[1:] else Path("secrets"))
