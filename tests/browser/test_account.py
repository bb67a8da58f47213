"""An account of one person: a passkey is made, used on a second device, lost, and recovered.

Chromium's own authenticator in software keeps the passkeys. What a device synchronises is copied
from one browser into the other.
"""

from typing import Any

from playwright.async_api import CDPSession, Locator, Page, expect

from tests.browser.axe import violations
from tests.browser.chromium import Visitors
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

KEPT = "JSON.parse(localStorage.getItem('towerhall.guest'))?.id ?? null"
PLATFORM = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Passkeys:
    """The authenticator of one browser."""

    def __init__(self, session: CDPSession, name: str) -> None:
        self._session, self._name = session, name

    @classmethod
    async def of(cls, page: Page) -> "Passkeys":
        session = await page.context.new_cdp_session(page)
        await session.send("WebAuthn.enable")
        added = await session.send("WebAuthn.addVirtualAuthenticator", {"options": PLATFORM})
        return cls(session, added["authenticatorId"])

    async def ask(self, what: str, **more: Any) -> Any:
        return await self._session.send(f"WebAuthn.{what}", {"authenticatorId": self._name, **more})

    async def all(self) -> list[Any]:
        found: list[Any] = (await self.ask("getCredentials"))["credentials"]
        return found


async def opened(page: Page) -> Locator:
    """The dialog, reached by keys through the settings."""
    await expect(page.get_by_role("button", name="Settings")).to_be_visible()
    await page.keyboard.press(",")
    button = page.get_by_role("button", name="Account and sign-in")
    await button.focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Account")
    await expect(dialog).to_be_visible()
    return dialog


async def test_a_passkey_is_made_used_on_a_second_device_lost_and_recovered(
    shared: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("status 401", "401", "status 403", "403")
    # A passkey belongs to a name, and this machine has one.
    url = shared.url.replace("127.0.0.1", "localhost")
    service = Service(shared.url)
    ada, ben = await service.guest("Ada"), await service.guest("Ben")

    laptop = await visitors.visit(url, guest=ada)
    at_laptop = await Passkeys.of(laptop)
    dialog = await opened(laptop)
    await expect(dialog).to_contain_text("You are here as the guest Ada.")
    assert await violations(laptop) == []
    await dialog.get_by_role("button", name="Make an account").click()
    first_code = await dialog.get_by_role("textbox", name="Recovery code").input_value()
    assert len(first_code) == 35 + 6
    assert await violations(laptop) == []
    await dialog.get_by_role("button", name="I have saved it").click()
    await expect(dialog).to_contain_text("You are signed in as Ada.")
    await expect(dialog).to_contain_text("For localhost, made on")
    await expect(dialog).to_contain_text("This device, since")
    assert await violations(laptop) == []
    (passkey,) = await at_laptop.all()

    # A phone, on which another person plays already: it asks, and names both.
    phone = await visitors.visit(url, guest=ben, phone=True)
    at_phone = await Passkeys.of(phone)
    await at_phone.ask("addCredential", credential=passkey)
    there = await opened(phone)
    await there.get_by_role("button", name="Sign in with a passkey").tap()
    await expect(there).to_contain_text("Continue as Ada?")
    await expect(there).to_contain_text("In this browser you are Ben.")
    assert await phone.evaluate(KEPT) == ben.id
    assert await violations(phone) == []
    await there.get_by_role("button", name="Continue as Ada").tap()
    await expect(there).to_contain_text("You are signed in as Ada.")
    devices = there.get_by_role("region", name="Signed-in devices").get_by_role("listitem")
    await expect(devices).to_have_count(2)
    assert await phone.evaluate(KEPT) == ada.id
    assert await violations(phone) == []
    width = await phone.evaluate("document.documentElement.scrollWidth")
    assert width <= 360, "nothing is cut off, and nothing scrolls aside"
    await there.get_by_role("button", name="Close").tap()
    await expect(phone.get_by_role("button", name="Undo: be Ben again")).to_be_visible()

    # The laptop is logged out from there. It is nobody's any more.
    there = await opened(phone)
    await there.get_by_role("button", name="Log out Chrome, Linux").tap()
    await expect(devices).to_have_count(1)
    await expect(laptop.get_by_role("status", name="Messages")).to_contain_text("new guest, Ada")
    assert await laptop.evaluate(KEPT) != ada.id

    # The phone leaves, and the only passkey is lost.
    await there.get_by_role("button", name="Log out here").tap()
    await phone.wait_for_function(f"{KEPT} === null")
    await phone.locator("[data-lobby=up]").wait_for()
    await at_phone.ask("clearCredentials")
    there = await opened(phone)
    await there.get_by_role("button", name="Sign in with a passkey").tap()
    await expect(there.get_by_role("alert")).to_contain_text("Nothing was confirmed")
    assert await violations(phone) == []

    # The recovery code brings the same person back, once.
    await there.get_by_text("Without a passkey: use the recovery code").tap()
    field = there.get_by_role("textbox", name="Recovery code")
    await field.fill(first_code.lower().replace("-", " "))
    await field.press("Enter")
    await expect(there.get_by_role("button", name="I have saved it")).to_be_visible()
    second_code = await field.input_value()
    assert second_code not in ("", first_code)
    await there.get_by_role("button", name="I have saved it").tap()
    assert await phone.evaluate(KEPT) == ada.id
    await there.get_by_role("button", name="Add a passkey").tap()
    passkeys = there.get_by_role("region", name="Passkeys").get_by_role("listitem")
    await expect(passkeys).to_have_count(2)
    await passkeys.first.get_by_role("button", name="Remove the passkey").tap()
    await passkeys.first.get_by_role("button", name="Really remove").tap()
    await expect(passkeys).to_have_count(1)
    (newer,) = await at_phone.all()
    assert newer["credentialId"] != passkey["credentialId"]

    # The lost passkey and the used code open nothing any more, at the laptop where both are.
    back = laptop.get_by_role("dialog", name="Account")
    await back.get_by_role("button", name="Sign in with a passkey").click()
    await expect(back.get_by_role("alert")).to_contain_text("it was removed from the account")
    await back.get_by_text("Without a passkey: use the recovery code").click()
    field = back.get_by_role("textbox", name="Recovery code")
    await field.fill(first_code)
    await field.press("Enter")
    await expect(back.get_by_role("alert")).to_contain_text("Each code works only once.")
    # The newer code does, and who does not want to change stays who they are.
    await field.fill(second_code)
    await field.press("Enter")
    await expect(back).to_contain_text("Continue as Ada?")
    await back.get_by_role("button", name="Stay Ada").click()
    await back.get_by_role("button", name="I have saved it").click()
    assert await laptop.evaluate(KEPT) != ada.id


async def test_a_page_that_can_have_no_passkey_says_why(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """An address by numbers, here; and a service that cannot be reached."""
    visitors.mean("failed", "ERR_", "Failed to load")
    page = await visitors.visit(shared.url)
    dialog = await opened(page)
    await expect(dialog).to_contain_text("Passkeys need an address with a name.")
    await expect(dialog.get_by_role("button", name="Make an account")).to_have_count(0)
    await page.context.set_offline(True)
    field = dialog.get_by_role("textbox", name="Recovery code")
    await field.fill("A" * 35)
    await field.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("The service cannot be reached.")
