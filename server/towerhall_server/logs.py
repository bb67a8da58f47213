"""Log lines on standard error: for people, or one JSON document per line. Never any secrets."""

import json
import logging
import sys
from typing import Final

QUIET: Final = ("uvicorn", "websockets", "asyncio")
"""They tell of every connection, and in detail even what is said on it: keys and tokens too."""


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        document = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            document["trace"] = self.formatException(record.exc_info)
        return json.dumps(document, ensure_ascii=False)


def set_up_logs(form: str, level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    if form == "json":
        handler.setFormatter(_JsonLines())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.INFO if level == "debug" else logging.WARNING)
