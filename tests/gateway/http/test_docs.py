"""The documentation at /docs: which addresses it has, and what it is served with."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest
from starlette.exceptions import HTTPException

from tests.gateway.http.asking import Answer, asked
from towerhall_server.gateway.http import docs
from towerhall_server.gateway.http.docs import docs_routes
from towerhall_server.gateway.http.page import POLICY

CLAUSE = b'<h3 id="P-42">Numbers</h3>' * 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small site as the build leaves it."""
    for name in ("decisions", "images"):
        (tmp_path / name).mkdir()
    (tmp_path / "index.html").write_text("<title>Documentation</title>")
    (tmp_path / "spec.html").write_bytes(CLAUSE)
    (tmp_path / "spec.html.gz").write_bytes(gzip.compress(CLAUSE))
    (tmp_path / "decisions/0001-why.html").write_text("<title>Why</title>")
    (tmp_path / "images/hall.png").write_bytes(b"png")
    (tmp_path / "site.css").write_text("a {}")
    (tmp_path / "notes.secret").write_text("not of a kind that is served")
    return tmp_path


async def get(
    folder: Path, path: str, headers: Mapping[str, str] | None = None, ancestors: str = "'self'"
) -> Answer:
    return await asked(docs_routes(ancestors, folder), path, headers)


@pytest.mark.parametrize(
    ("path", "name", "kind"),
    [
        ("/docs/index", "index.html", "text/html; charset=utf-8"),
        ("/docs/spec", "spec.html", "text/html; charset=utf-8"),
        ("/docs/spec.html", "spec.html", "text/html; charset=utf-8"),
        ("/docs/decisions/0001-why", "decisions/0001-why.html", "text/html; charset=utf-8"),
        ("/docs/site.css", "site.css", "text/css; charset=utf-8"),
        ("/docs/images/hall.png", "images/hall.png", "image/png; charset=utf-8"),
    ],
)
async def test_each_file_is_served_with_the_headers_of_the_page(
    folder: Path, path: str, name: str, kind: str
) -> None:
    answer = await get(folder, path)
    assert (answer.status, answer.headers["content-type"]) == (200, kind)
    assert answer.body == (folder / name).read_bytes()
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-security-policy"] == f"{POLICY}; frame-ancestors 'self'"


@pytest.mark.parametrize("path", ["/docs", "/docs/"])
async def test_the_address_of_the_folder_leads_to_the_first_page(folder: Path, path: str) -> None:
    answer = await get(folder, path)
    assert (answer.status, answer.headers["location"]) == (307, "/docs/index")


@pytest.mark.parametrize(
    "path",
    ["/docs/none", "/docs/notes.secret", "/docs/spec.html.gz", "/docs/../spec", "/docs/decisions"],
)
async def test_nothing_else_is_served(folder: Path, path: str) -> None:
    with pytest.raises(HTTPException) as raised:
        await get(folder, path)
    assert raised.value.status_code == 404


async def test_a_client_that_takes_gzip_gets_the_packed_twin_once(folder: Path) -> None:
    answer = await get(folder, "/docs/spec", {"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body) == CLAUSE
    known = {"accept-encoding": "gzip", "if-none-match": answer.headers["etag"]}
    assert (await get(folder, "/docs/spec", known)).status == 304


async def test_embedders_are_named_in_the_policy(folder: Path) -> None:
    answer = await get(folder, "/docs/spec", ancestors="https://lobby.example.org")
    assert answer.policy["frame-ancestors"] == "https://lobby.example.org"


async def test_without_built_pages_the_address_says_how_to_build_them(tmp_path: Path) -> None:
    answer = await get(tmp_path, "/docs")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert "`make docs`" in answer.body.decode()


def test_packaged_pages_come_before_built_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs, "PACKAGED", folder / "none")
    assert docs.find_docs() == docs.BUILT
    monkeypatch.setattr(docs, "PACKAGED", folder)
    assert docs.find_docs() == folder
