"""Makes the pictures that other programs show, which read PNG and no SVG: previews of links, icons.

    python -m tests.browser.preview

Each picture names the drawing that it was made of, so that a test notices an old picture.
"""

import asyncio
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from tests.browser.chromium import launched

WEB: Final = Path(__file__).resolve().parents[2] / "clients" / "web"
PUBLIC: Final = WEB / "public"
END_BYTES: Final = 12
"""The last chunk of a PNG, which is empty."""


class Picture(NamedTuple):
    """A picture that is made of a drawing, in this size."""

    path: Path
    drawing: Path
    width: int
    height: int

    def mark(self) -> bytes:
        """The chunk of a PNG that names the drawing."""
        body = b"tEXtSource\0" + sha256(self.drawing.read_bytes()).hexdigest().encode()
        return (len(body) - 4).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)


PREVIEW: Final = Picture(PUBLIC / "preview.png", WEB / "preview.svg", 1200, 630)
ICONS: Final = (
    Picture(PUBLIC / "icon-192.png", PUBLIC / "icon.svg", 192, 192),
    Picture(PUBLIC / "icon-512.png", PUBLIC / "icon.svg", 512, 512),
    Picture(PUBLIC / "icon-mask-512.png", PUBLIC / "icon-mask.svg", 512, 512),
)


async def make() -> None:
    """Make the pictures whose drawing has changed."""
    async with launched() as browser:
        for each in (PREVIEW, *ICONS):
            if each.path.is_file() and each.mark() in each.path.read_bytes():
                continue
            size = {"width": each.width, "height": each.height}
            page = await browser.new_page(viewport=size)  # type: ignore[arg-type]
            await page.goto(each.drawing.as_uri())
            taken = await page.screenshot(omit_background=True)
            each.path.write_bytes(taken[:-END_BYTES] + each.mark() + taken[-END_BYTES:])


if __name__ == "__main__":
    asyncio.run(make())
