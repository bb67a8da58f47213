"""The page: which files are served, what with, and what a document may not contain.

How the page looks and behaves is for a browser to say.
"""

import gzip
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest
from starlette.exceptions import HTTPException

from tests.gateway.http.asking import Answer, asked
from towerhall_server.gateway.http import page
from towerhall_server.gateway.http.page import BUILT, INDEX, page_routes, read_page

SCRIPT: Final = b"export const towers = 5;" * 40
ADDRESSES: Final = {"action", "data", "formaction", "href", "poster", "src", "srcset", "xlink:href"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small page as the build leaves it."""
    (tmp_path / "assets").mkdir()
    (tmp_path / INDEX).write_text("<!doctype html><title>Towerhall</title>")
    (tmp_path / "icon.svg").write_text("<svg/>")
    (tmp_path / "assets/index-Ab1.js").write_bytes(SCRIPT)
    (tmp_path / "assets/index-Ab1.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "notes.secret").write_text("not of a kind that is served")
    return tmp_path


async def get(
    folder: Path, path: str, headers: Mapping[str, str] | None = None, ancestors: str = "'self'"
) -> Answer:
    return await asked(page_routes(ancestors, folder), path, headers)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/icon.svg", "image/svg+xml"),
        ("/assets/index-Ab1.js", "text/javascript"),
    ],
)
async def test_each_file_is_served_as_what_it_is(folder: Path, path: str, kind: str) -> None:
    answer = await get(folder, path)
    assert answer.status == 200
    assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.body == (folder / (path[1:] or INDEX)).read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/notes.secret",
        "/index.html",
        "/assets/index-Ab1.js.gz",
        "/assets/none.js",
        "/assets/..",
        "/assets/../icon.svg",
    ],
)
async def test_nothing_else_is_served(folder: Path, path: str) -> None:
    with pytest.raises(HTTPException) as raised:
        await get(folder, path)
    assert raised.value.status_code == 404


@pytest.mark.parametrize("path", ["/", "/icon.svg", "/assets/index-Ab1.js"])
async def test_the_policy_allows_own_files_and_nothing_else(folder: Path, path: str) -> None:
    answer = await get(folder, path)
    policy = answer.policy
    for what in ("default-src", "base-uri", "form-action"):
        assert policy[what] == "'none'"
    for what in ("script-src", "style-src", "connect-src", "frame-ancestors"):
        assert policy[what] == "'self'"
    assert policy["img-src"] == "'self' blob:", "pictures that the page has drawn itself"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in answer.headers["content-security-policy"]


async def test_embedders_are_named_in_the_policy(folder: Path) -> None:
    answer = await get(folder, "/", ancestors="https://lobby.example.org")
    assert answer.policy["frame-ancestors"] == "https://lobby.example.org"


async def test_names_with_a_hash_are_kept_for_ever_and_others_are_asked_for_each_time(
    folder: Path,
) -> None:
    kept = await get(folder, "/assets/index-Ab1.js")
    assert "immutable" in kept.headers["cache-control"]
    for path in ("/", "/icon.svg"):
        assert (await get(folder, path)).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("accepted", ["gzip", "br, gzip;q=0.5", "GZIP", "*"])
async def test_whoever_takes_gzip_gets_the_packed_file(folder: Path, accepted: str) -> None:
    answer = await get(folder, "/assets/index-Ab1.js", {"accept-encoding": accepted})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "accept-encoding"
    assert len(answer.body) < len(SCRIPT)
    assert gzip.decompress(answer.body) == SCRIPT


@pytest.mark.parametrize("accepted", ["", "br", "gzip;q=0", "gzip; q=0.0", "gzipped"])
async def test_whoever_does_not_gets_the_plain_one(folder: Path, accepted: str) -> None:
    answer = await get(folder, "/assets/index-Ab1.js", {"accept-encoding": accepted})
    assert "content-encoding" not in answer.headers
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.body == SCRIPT


@pytest.mark.parametrize("accepted", ["identity", "gzip"])
async def test_what_a_browser_has_is_not_sent_again(folder: Path, accepted: str) -> None:
    wanted = {"accept-encoding": accepted}
    first = await get(folder, "/assets/index-Ab1.js", wanted)
    for tags in (first.headers["etag"], f'"other", W/{first.headers["etag"]}'):
        again = await get(folder, "/assets/index-Ab1.js", wanted | {"if-none-match": tags})
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    (folder / "assets/index-Ab1.js").write_bytes(b"changed")
    changed = await get(folder, "/assets/index-Ab1.js", wanted | {"if-none-match": tags})
    assert changed.status == 200


async def test_plain_and_packed_have_tags_of_their_own(folder: Path) -> None:
    plain = await get(folder, "/assets/index-Ab1.js")
    packed = await get(folder, "/assets/index-Ab1.js", {"accept-encoding": "gzip"})
    assert plain.headers["etag"] != packed.headers["etag"]


async def test_without_a_built_page_the_root_says_how_to_build_it(tmp_path: Path) -> None:
    answer = await get(tmp_path, "/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "`make web`" in answer.body.decode()
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_packaged_page_comes_before_a_built_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PACKAGED", folder / "none")
    assert page.find_page() == BUILT
    monkeypatch.setattr(page, "PACKAGED", folder)
    assert page.find_page() == folder


# What the build made; `make test` builds it first.


class Document(HTMLParser):
    """The elements of a document, and what is wrong with them under the page's policy."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.complaints: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        if tag in ("style", "base", "iframe", "object", "embed"):
            self.complaints.append(f"<{tag}>")
        for name, value in attrs:
            if name == "style" or name.startswith("on"):
                self.complaints.append(f"{name}= on <{tag}>")
            if name in ADDRESSES:
                self.addresses.append(value or "")
                if not re.match(r"#|\./|/(?!/)", value or ""):
                    self.complaints.append(f"{name}={value} leads away")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style") and data.strip():
            self.complaints.append(f"inline {self._inside}")


@pytest.fixture(scope="module")
def built() -> dict[str, page.PageFile]:
    files = dict(read_page(BUILT))
    assert INDEX in files, "the page is not built: run `make web`"
    return files


def test_the_built_document_has_nothing_inline_and_leads_to_built_files(
    built: dict[str, page.PageFile],
) -> None:
    document = Document(built[INDEX].content.decode())
    assert document.complaints == []
    names = {address.removeprefix("./").removeprefix("/") for address in document.addresses}
    assert names - built.keys() == set()
    assert any(name.startswith("assets/") and name.endswith(".js") for name in names)


@pytest.mark.parametrize(
    "bad",
    [
        "<p style='color: red'></p>",
        "<style>p { color: red }</style>",
        "<script>look()</script>",
        "<button onclick='look()'></button>",
        "<script src='https://cdn.example/page.js'></script>",
        "<img src='//cdn.example/logo.png'>",
        "<a href='javascript:look()'></a>",
        "<base href='/elsewhere/'>",
    ],
)
def test_a_bad_document_is_seen(bad: str) -> None:
    assert Document(bad).complaints != []


def test_every_built_text_has_a_packed_twin_that_is_the_same(
    built: dict[str, page.PageFile],
) -> None:
    scripts = [file for name, file in built.items() if name.startswith("assets/")]
    assert scripts != []
    for file in scripts:
        if len(file.content) > 1000:
            assert file.packed is not None
        if file.packed is not None:
            assert gzip.decompress(file.packed) == file.content
