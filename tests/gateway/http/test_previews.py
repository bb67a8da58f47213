"""The tags of a preview, without a server."""

from html.parser import HTMLParser

from towerhall_server.gateway.http.preview_words import language_of
from towerhall_server.gateway.http.previews import Preview, with_tags


class Elements(HTMLParser):
    """Names of all elements of a document, in order."""

    def __init__(self, document: bytes) -> None:
        super().__init__()
        self.names: list[str] = []
        self.feed(document.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)


def test_a_hostile_text_adds_no_element() -> None:
    hostile = "\"'><script>x</script></head><base href=//x>"
    index = b"<html><head><title>T</title></head><body></body></html>"
    made = with_tags(index, Preview(hostile, hostile), f"https://{hostile}/")
    names = [name for name in Elements(made).names if name != "meta"]
    assert names == ["html", "head", "title", "body"]


def test_the_first_language_with_words_is_taken() -> None:
    assert language_of("pt, FR-ch;q=0.9, de") == "fr"
    assert language_of("") == language_of("zh") == "en"
