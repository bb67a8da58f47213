"""Which hosts this server answers for, judged by the Host header.

A foreign page can point its own domain name at this server (DNS rebinding). Its browser then treats
the server as the page's own, and `origins` accepts it. Only the Host header shows the difference.
Ports are not compared: such a page cannot choose another one. No answer is made here.
"""

import ipaddress
import re
from typing import Final

HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::[0-9]{1,5})?", re.ASCII)


class Hosts:
    """The hosts of this server: names and addresses without ports. None accepts any host."""

    __slots__ = ("_listed",)

    def __init__(self, listed: tuple[str, ...]) -> None:
        self._listed = set()
        for entry in listed:
            host = _host(entry)
            if host is None or host != _host(f"{entry}:1"):
                raise ValueError(
                    f"{entry!r} is not a host; write it like play.example.org, 192.0.2.7 or"
                    " [2001:db8::7], without a scheme and without a port"
                )
            self._listed.add(host)

    def answers_for(self, header: str | None) -> bool:
        """Judge a request by its Host header, which may be None."""
        return not self._listed or _host(header or "") in self._listed


def _host(text: str) -> str | None:
    """Return the host without its port, normalised for comparison."""
    found = HOST.fullmatch(text.lower())
    if found is None:
        return None
    if found[1].startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(found[1][1:-1])}]"
        except ValueError:
            return None
    return found[1]
