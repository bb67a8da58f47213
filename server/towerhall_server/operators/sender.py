"""One attempt of a delivery: a signed POST to the operator's webhook.

Only the status counts: 2xx means success, everything else is retried. `outbound` decides which
hosts may be asked.
"""

import hmac
from hashlib import sha256
from time import time

from towerhall_server.operators.operator import Webhook
from towerhall_server.outbound.posting import ATTEMPT_SECONDS, NotPostedError, Outbound


class NotToldError(Exception):
    """The delivery failed. The message says why, without the address of the webhook."""


def signature(secrets: tuple[bytes, ...], seconds: int, body: bytes) -> str:
    """Return the headers that prove the sender and the time of a body."""
    signed = b"%d.%b" % (seconds, body)
    proofs = [f"v1={hmac.new(secret, signed, sha256).hexdigest()}" for secret in secrets]
    return ",".join((f"t={seconds}", *proofs))


class Sender:
    """Posts to operators. `networks` are private networks that webhooks may use."""

    def __init__(
        self, networks: tuple[str, ...] = (), *, attempt_seconds: float = ATTEMPT_SECONDS
    ) -> None:
        self._outbound = Outbound(networks, is_trusted=True, attempt_seconds=attempt_seconds)

    async def send(self, hook: Webhook, delivery: str, body: bytes) -> None:
        """Try once. Raises `NotToldError` on failure."""
        headers = {
            "Content-Type": "application/json",
            "Towerhall-Delivery": delivery,
            "Towerhall-Signature": signature(hook.secrets, int(time()), body),
        }
        try:
            posted = await self._outbound.post(hook.url, headers, body)
        except NotPostedError as error:
            raise NotToldError(str(error)) from None
        if not 200 <= posted.status < 300:
            raise NotToldError(f"the answer was {posted.status}")
