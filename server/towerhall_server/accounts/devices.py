"""The name of a device, as a person would call it: browser and system, by the User-Agent header.

Only this name is kept, never the header or an address. This module is pure.
"""

import re
from typing import Final

BROWSERS: Final = (
    # In this order: most browsers also name those that they resemble.
    ("Edge", re.compile(r"\bEdg(e|A|iOS)?/")),
    ("Opera", re.compile(r"\b(OPR|Opera)/")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/")),
    ("Firefox", re.compile(r"\b(Firefox|FxiOS)/")),
    ("Chrome", re.compile(r"\b(Chrome|CriOS|Chromium|HeadlessChrome)/")),
    ("Safari", re.compile(r"\bSafari/")),
)
SYSTEMS: Final = (
    ("iPhone", re.compile(r"\biPhone\b")),
    ("iPad", re.compile(r"\biPad\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("Mac", re.compile(r"\bMacintosh\b")),
    ("Linux", re.compile(r"\b(Linux|X11)\b")),
)
MOST_READ: Final = 1000


def device_name(user_agent: str) -> str:
    """Return the name of a device, such as `Firefox, Linux`; empty if it is unknown."""
    read = user_agent[:MOST_READ]
    found = (
        next((name for name, pattern in names if pattern.search(read)), "")
        for names in (BROWSERS, SYSTEMS)
    )
    return ", ".join(filter(None, found))
