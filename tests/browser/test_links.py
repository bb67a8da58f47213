"""Links that make a browser another person: it is asked before, and there is an undo."""

from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.tables import room_of
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Guest, Service

KEPT = "JSON.parse(localStorage.getItem('towerhall.guest')).id"


async def two_people(url: str) -> tuple[Guest, Guest, str]:
    """Ada, whose browser it is, Ben, and a link of Ben's that leads to a room."""
    service = Service(url)
    ada, ben = await service.guest("Ada"), await service.guest("Ben")
    room = await room_of(url, ben)
    link = await service.new_link(ben.token, room.code)
    return ada, ben, url.rstrip("/") + link.link


async def here(page: Page) -> str:
    """Whom the browser remembers."""
    return str(await page.evaluate(KEPT))


async def test_a_link_asks_before_it_replaces_somebody_and_names_both(
    shared: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("status 404", "404")
    ada, _, link = await two_people(shared.url)
    page = await visitors.visit(link, guest=ada)
    asking = page.get_by_role("alert")
    await expect(asking).to_contain_text("Continue as Ben?")
    await expect(asking).to_contain_text("In this browser you are Ada.")
    assert await here(page) == ada.id
    await page.reload()
    await expect(page.get_by_role("alert")).to_contain_text("This link does not work")
    assert await here(page) == ada.id


async def test_whoever_does_not_want_to_be_somebody_else_stays(
    shared: ServerProcess, visitors: Visitors
) -> None:
    ada, _, link = await two_people(shared.url)
    page = await visitors.visit(link, guest=ada)
    await page.get_by_role("button", name="Stay Ada").click()
    await expect(page.get_by_role("button", name="Play now")).to_be_visible()
    assert await here(page) == ada.id
    await expect(page.get_by_role("button", name="Undo")).to_have_count(0)


async def test_whoever_went_on_as_somebody_else_comes_back_by_undo_also_after_a_reload(
    shared: ServerProcess, visitors: Visitors
) -> None:
    ada, ben, link = await two_people(shared.url)
    page = await visitors.visit(link, guest=ada)
    await page.get_by_role("button", name="Continue as Ben").click()
    told = page.get_by_role("region", name="You are Ben in this browser now. Before, you were Ada.")
    await expect(told).to_be_visible()
    await expect(page.get_by_role("button", name="Sit here").first).to_be_visible()
    assert await here(page) == ben.id
    await page.reload()
    await told.get_by_role("button", name="Undo: be Ada again").click()
    await expect(told).to_have_count(0)
    assert await here(page) == ada.id
    await page.reload()
    await expect(page.get_by_role("button", name="Sit here").first).to_be_visible()
    assert await here(page) == ada.id
    await expect(told).to_have_count(0)


async def test_whoever_confirms_is_not_asked_again(
    shared: ServerProcess, visitors: Visitors
) -> None:
    ada, ben, link = await two_people(shared.url)
    page = await visitors.visit(link, guest=ada)
    await page.get_by_role("button", name="Continue as Ben").click()
    await page.get_by_role("button", name="That is right").click()
    await page.reload()
    await expect(page.get_by_role("button", name="Sit here").first).to_be_visible()
    await expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert await here(page) == ben.id
    assert await page.evaluate("localStorage.getItem('towerhall.replaced')") == "null"


async def test_nobody_is_asked_who_is_nobody_yet_or_the_same_person(
    shared: ServerProcess, visitors: Visitors
) -> None:
    for is_known in (False, True):
        _, ben, link = await two_people(shared.url)
        page = await visitors.visit(link, guest=ben if is_known else None)
        await expect(page.get_by_role("button", name="Sit here").first).to_be_visible()
        assert await here(page) == ben.id
        await expect(page.get_by_role("button", name="Undo")).to_have_count(0)


async def test_another_link_and_another_tab_are_asked_about_as_well(
    shared: ServerProcess, visitors: Visitors
) -> None:
    ada, _, link = await two_people(shared.url)
    _, cyd, other = await two_people(shared.url)
    page = await visitors.visit(shared.url)
    await page.locator("[data-lobby=up]").wait_for()
    # This tab was opened before Ada came to the browser in another one.
    await page.evaluate(
        "(guest) => localStorage.setItem('towerhall.guest', JSON.stringify(guest))",
        {"token": ada.token, "id": ada.id, "name": ada.name},
    )
    await page.evaluate("(hash) => { location.hash = hash; }", link.partition("#")[2])
    asking = page.get_by_role("alert")
    await expect(asking).to_contain_text("In this browser you are Ada.")
    assert await here(page) == ada.id
    await page.evaluate("(hash) => { location.hash = hash; }", other.partition("#")[2])
    await expect(asking).to_contain_text("In this browser you are Ada.")
    await page.get_by_role("button", name="Continue as Ben").click()
    await expect(page.get_by_role("button", name="Undo: be Ada again")).to_be_visible()
    assert await here(page) == cyd.id
