"""A server like any other, whose rooms are always the same: run as a module.

Code, uid and secret of a room are fixed, and with them cards and the moves of bots. Tokens, marks,
chains and times differ.
"""

import sys
from random import Random
from types import SimpleNamespace

from towerhall_server.cli.main import main
from towerhall_server.live import directory

CODE = "ARVEGT"
SEED = 7

if __name__ == "__main__":
    fixed = SimpleNamespace(urandom=Random(SEED).randbytes)
    directory.os = fixed  # type: ignore[attr-defined, assignment]
    directory.new_code = lambda: CODE
    sys.exit(main())
