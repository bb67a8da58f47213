"""The files that say how several servers run, read as the tools read them."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILE = ROOT / "server/Dockerfile"
CADDYFILE = ROOT / "server/Caddyfile"
DOCKERIGNORE = ROOT / ".dockerignore"
NEW_SECRETS = ROOT / "server/new_secrets.py"
SECRETS = "/run/secrets"
"""Where containers find the files of their secrets."""

VARIABLE = re.compile(r"\$\{(?P<name>[A-Z_]+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}")
UNITS = {"s": 1, "m": 60, "h": 3600}


class MissingVariableError(Exception):
    """What is printed in place of starting anything."""


def compose() -> dict[str, Any]:
    """The compose file before anything is put in for its variables."""
    document: dict[str, Any] = YAML(typ="safe").load(COMPOSE.read_text())
    return document


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose()["services"]
    return found


def servers() -> dict[str, dict[str, Any]]:
    """The services that run Towerhall."""
    return {name: each for name, each in services().items() if each["image"] == "towerhall"}


def image_of(name: str) -> str:
    """The image of a service where no variable names another one."""
    return filled_in(services()[name]["image"], {})


def filled_in(text: str, environ: dict[str, str]) -> str:
    """A value of the compose file with its variables replaced, as the tool does it."""

    def put_in(found: re.Match[str]) -> str:
        value = environ.get(found["name"], "")
        if value or found["kind"] is None:
            return value
        if found["kind"] == "?":
            raise MissingVariableError(f"{found['name']}: {found['rest']}")
        return found["rest"]

    return VARIABLE.sub(put_in, text)


def environment(
    service: dict[str, Any], environ: dict[str, str], made: Path | None = None
) -> dict[str, str]:
    """What the processes of a service find in their environment, with secrets in that folder."""
    wanted = service.get("environment", {}).items()
    found = {name: filled_in(str(value), environ) for name, value in wanted}
    return {name: placed(value, made) for name, value in found.items()}


def store_flags(made: Path | None = None) -> list[str]:
    """What the store is started with, without the name of its program."""
    return [placed(str(word), made) for word in services()["store"]["command"][1:]]


def placed(text: str, made: Path | None) -> str:
    """A path of a secret in a container, as the same in a folder."""
    return text if made is None else text.replace(SECRETS, str(made))


def make_secrets(folder: Path) -> str:
    """Make the secrets as an operator does; the password of the store."""
    subprocess.run([sys.executable, NEW_SECRETS, folder], check=True)
    return (folder / "store_password").read_text().strip()


def seconds(text: str) -> float:
    """A duration such as `30s` or `1m30s`."""
    parts = re.findall(r"([0-9.]+)([smh])", text)
    assert "".join(number + unit for number, unit in parts) == text, text
    return sum(float(number) * UNITS[unit] for number, unit in parts)
