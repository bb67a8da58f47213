"""Makes the picture that links show in other programs, which read PNG and no SVG.

    python -m tests.browser.preview

The picture names the drawing that it was made of, so that a test notices an old picture.
"""

import asyncio
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.browser.chromium import launched

WEB: Final = Path(__file__).resolve().parents[2] / "clients" / "web"
DRAWING: Final = WEB / "preview.svg"
PICTURE: Final = WEB / "public" / "preview.png"
END_BYTES: Final = 12
"""The last chunk of a PNG, which is empty."""


def mark() -> bytes:
    """The chunk of a PNG that names the drawing."""
    body = b"tEXtSource\0" + sha256(DRAWING.read_bytes()).hexdigest().encode()
    return (len(body) - 4).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)


async def make() -> None:
    async with launched() as browser:
        page = await browser.new_page(viewport={"width": 1200, "height": 630})
        await page.goto(DRAWING.as_uri())
        taken = await page.screenshot()
    PICTURE.write_bytes(taken[:-END_BYTES] + mark() + taken[-END_BYTES:])


if __name__ == "__main__":
    asyncio.run(make())
