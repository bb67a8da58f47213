"""`towerhall serve`: run the service."""

import argparse
import os
from typing import Any

from towerhall_server.cli.errors import UsageError

EXAMPLES = """\
examples:
  towerhall serve
  towerhall serve --port 9000 --data-folder ./data
  towerhall serve --workers 4
  towerhall serve --archive ./records
  towerhall serve --redis-url redis://localhost:6379/0
  towerhall serve --metrics-port 9100 --log-format keyvalue

Without --redis-url the server runs its own store on the data folder. Every flag is also a variable:
--redis-url is TOWERHALL_REDIS_URL. Limits are variables only, such as
TOWERHALL_LIMIT_COMMANDS="10/s burst 20". Secrets are variables only, too: TOWERHALL_TOKEN_KEYS,
required with --redis-url, and TOWERHALL_METRICS_TOKEN, which readers of the metrics must send. A
secret may also be in a file: TOWERHALL_TOKEN_KEYS_FILE names it.
"""
FLAGS = {
    "host": "address to listen at (default: 127.0.0.1)",
    "port": "port to listen at; 0 takes any free one (default: 8000)",
    "workers": "processes that share the port, to use several cores (default: 1)",
    "search_processes": "processes for slow decisions (default: one less than there are cores)",
    "redis_url": "a Redis >= 7 or Valkey >= 8 of your own, instead of the embedded store",
    "require_durable": "start only if the store writes moves to disk before it answers: yes or no",
    "data_folder": "folder of the embedded store",
    "origins": "origins of foreign pages that may connect, separated by commas",
    "hosts": "host names of this service, separated by commas (default: any)",
    "trusted_proxies": "proxies whose forwarded headers are trusted, separated by commas",
    "keep_days": "days that records of finished games are kept (default: 30)",
    "archive": "folder, or s3://BUCKET/PREFIX, in which records stay for good (default: none)",
    "drain_seconds": "seconds for connections to end when the server stops (default: 10)",
    "sandbox": "offer sandbox rooms to authors of clients, and no rates: yes or no",
    "log_format": "text, json or keyvalue (default: text)",
    "log_level": "debug, info, warning or error (default: info)",
    "metrics_port": "port for Prometheus; further workers have the next ones (default: 0, none)",
    "metrics_host": "address of that port; any but loopback needs a token (default: 127.0.0.1)",
}

SWITCHES = ("require_durable", "sandbox")
"""Flags that mean yes without a value."""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "serve",
        help="run the service",
        description="Run the service until Ctrl-C or SIGTERM.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, explanation in FLAGS.items():
        flag = f"--{name.replace('_', '-')}"
        given = parser.add_argument(flag, help=explanation, metavar="VALUE")
        if name in SWITCHES:
            given.nargs, given.const = "?", "yes"
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    # Imported here, so that the other commands start faster.
    import uvloop

    from towerhall_server.app import serve, serve_together
    from towerhall_server.config.settings import SettingsError, read_settings
    from towerhall_server.process.workers import WorkerError
    from towerhall_server.store.check import UnfitStoreError
    from towerhall_server.store.engine import EngineError
    from towerhall_server.store.errors import StoreError
    from towerhall_server.telemetry.logs import set_up_logs
    from towerhall_server.telemetry.port import MetricsPortError

    try:
        settings = read_settings(os.environ, {name: getattr(arguments, name) for name in FLAGS})
        set_up_logs(settings.log_format, settings.log_level)
        run_server = serve if settings.workers == 1 else serve_together
        uvloop.run(run_server(settings, _announce))
    except (
        SettingsError,
        EngineError,
        UnfitStoreError,
        StoreError,
        WorkerError,
        MetricsPortError,
    ) as error:
        raise UsageError(str(error)) from error
    return 0


def _announce(url: str) -> None:
    print(f"Towerhall is at {url}", flush=True)
