"""Metrics as Prometheus reads them."""

from collections.abc import Mapping
from http.client import HTTPConnection
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from tests.end_to_end.raw import Answer, ask


class Scrape:
    """All samples of one reading."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._samples: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        self.families: dict[str, str] = {}
        for family in text_string_to_metric_families(text):
            self.families[family.name] = family.type
            for sample in family.samples:
                self._samples[sample.name, tuple(sorted(sample.labels.items()))] = sample.value

    def value(self, name: str, **labels: str) -> float:
        """0 for what has never happened."""
        return self._samples.get((f"towerhall_{name}", tuple(sorted(labels.items()))), 0.0)

    def labels(self, name: str) -> list[Mapping[str, str]]:
        wanted = f"towerhall_{name}"
        return [dict(labels) for found, labels in self._samples if found == wanted]


def scrape(port: int, token: str = "") -> Scrape:
    answer = read(port, token)
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].startswith("text/plain")
    return Scrape(answer.body.decode())


def read(port: int, token: str = "", path: str = "/metrics", method: str = "GET") -> Answer:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    return ask(f"http://127.0.0.1:{port}", method, path, None, headers)


def answers_at(host: str, port: int) -> bool:
    """Whether anybody listens there."""
    connection = HTTPConnection(urlsplit(f"//{host}").netloc, port, timeout=2)
    try:
        connection.connect()
    except OSError:
        return False
    finally:
        connection.close()
    return True
