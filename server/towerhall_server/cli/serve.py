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
  towerhall serve --redis-url redis://localhost:6379/0
  towerhall serve --metrics-port 9100 --log-format keyvalue

Without --redis-url the server runs a store of its own on the data folder. Every flag is also a
variable: --redis-url is TOWERHALL_REDIS_URL. Limits are variables only, such as
TOWERHALL_LIMIT_COMMANDS="10/s burst 20", and so are secrets: TOWERHALL_TOKEN_KEYS, needed with a
store of your own, and TOWERHALL_METRICS_TOKEN, asked of whoever reads the metrics.
"""
FLAGS = {
    "host": "address to listen at (default: 127.0.0.1)",
    "port": "port to listen at; 0 takes any free one (default: 8000)",
    "workers": "processes that serve at that port together, to use several cores (default: 1)",
    "redis_url": "a Redis >= 7 or Valkey >= 8 of your own, instead of the embedded store",
    "data_folder": "where the embedded store keeps its data",
    "origins": "pages of other places that may connect, separated by commas",
    "trusted_proxies": "addresses whose forwarded headers are believed, separated by commas",
    "keep_days": "how long records of finished games are kept (default: 30)",
    "drain_seconds": "how long connections may take to end when the server stops (default: 10)",
    "log_format": "text, json or keyvalue (default: text)",
    "log_level": "debug, info, warning or error (default: info)",
    "metrics_port": "port for Prometheus; further workers have the next ones (default: 0, none)",
    "metrics_host": "address for it; others than this machine's need a token (default: 127.0.0.1)",
}


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "serve",
        help="run the service",
        description="Run the service until Ctrl-C or SIGTERM.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, explanation in FLAGS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", help=explanation, metavar="VALUE")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    # The server's own parts are imported only by those who serve: the other commands start faster.
    import uvloop

    from towerhall_server.app import serve, serve_together
    from towerhall_server.eventlog.embedded import EngineError
    from towerhall_server.eventlog.errors import StoreError
    from towerhall_server.eventlog.store import UnfitStoreError
    from towerhall_server.logs import set_up_logs
    from towerhall_server.settings import SettingsError, read_settings
    from towerhall_server.telemetry.port import MetricsPortError
    from towerhall_server.workers import WorkerError

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
