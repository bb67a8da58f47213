"""Log lines on standard error: for people, as JSON, or as pairs of key and value. Never secrets."""

import json
import logging
import re
import sys
from typing import Final

FORMS: Final = ("text", "json", "keyvalue")
QUIET: Final = ("uvicorn", "websockets", "asyncio")
"""Loggers that describe every connection and its messages, with keys and tokens: never verbose."""
PLAIN: Final = re.compile(r"[!#-<>-\[\]-~]+")
"""Values without quotes: visible ASCII without quotes, `=` and backslashes."""


def _fields(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, str]:
    """The fields of a log record, in any format."""
    document = {
        "time": formatter.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": record.getMessage(),
    }
    if record.exc_info:
        document["trace"] = formatter.formatException(record.exc_info)
    return document


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(_fields(self, record), ensure_ascii=False)


class _KeyValueLines(logging.Formatter):
    """Format one line per record; values that are not plain are written as in JSON."""

    def format(self, record: logging.LogRecord) -> str:
        return " ".join(f"{key}={_value(text)}" for key, text in _fields(self, record).items())


def _value(text: str) -> str:
    return text if PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def set_up_logs(form: str, level: str) -> None:
    formatters = {
        "text": logging.Formatter("%(asctime)s %(levelname)s %(message)s"),
        "json": _JsonLines(),
        "keyvalue": _KeyValueLines(),
    }
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatters[form])
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.INFO if level == "debug" else logging.WARNING)
