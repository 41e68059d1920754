"""Which session of a bundled site a page is in: the cookie of the page's profile, set and read from outside it."""

from typing import TYPE_CHECKING, Any

from core.environments.protocol import PageDriver
from core.schema.errors import BrowserError

if TYPE_CHECKING:
    from core.environments.sites.server import SiteServer


async def put_session(server: "SiteServer[Any]", page: PageDriver, session: str) -> None:
    """Let every tab of the page's profile go on in `session`; nothing is loaded anew."""
    await page.set_cookies(
        [
            {
                "name": server.cookie,
                "value": session,
                "url": server.origin,
                "path": "/",
                "httpOnly": True,
                "sameSite": "Lax",
            }
        ]
    )


async def session_of(server: "SiteServer[Any]", page: PageDriver) -> str:
    """Return the session that the page's profile is in, or nothing; whatever site the page shows.

    Raises BrowserError where the browser does not answer.
    """
    from playwright.async_api import Error

    live = page.playwright_page
    try:
        protocol = await live.context.new_cdp_session(live)
        try:
            found = await protocol.send("Network.getCookies", {"urls": [f"{server.origin}/"]})
        finally:
            await protocol.detach()
    except Error as error:
        raise BrowserError(
            f"The browser did not tell the session of the {server.application.name} site."
        ) from error
    return next((str(one["value"]) for one in found["cookies"] if one["name"] == server.cookie), "")
