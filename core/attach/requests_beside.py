"""Requests that an agent's Playwright sends beside the page: its hook asks here before it sends each.

They go from Playwright's own process to the site, so the browser knows nothing of them
(``resources/attach/requests.js``).
"""

import secrets

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from core.attach.agent_connection import ActMessage, OnAct, Refused, Swallowed
from core.attach.page_acts import ActPart, PageAct
from core.schema.record import Record
from core.schema.restore import Sent

_ANOTHER = "Something else was done in Backstep instead of this request."


class RequestBeside(Record):
    """One request."""

    method: str
    url: str


class RequestsAddress:
    """Answers the hook below `path` of a server: 204 lets a request go, 403 refuses it with a sentence."""

    def __init__(self, on_act: OnAct) -> None:
        self.path = f"/requests/{secrets.token_urlsafe(24)}"
        self._on_act = on_act

    def app(self) -> Starlette:
        """Return the application; it belongs below `path`."""
        return Starlette(routes=[Route("/", self._permit, methods=["POST"])])

    async def _permit(self, request: Request) -> Response:
        try:
            asked = RequestBeside.model_validate_json(await request.body())
        except ValidationError as error:
            return PlainTextResponse(str(error), 400)
        act = PageAct(kind="request", text=f"{asked.method} {asked.url}")
        try:
            await self._on_act(ActMessage("", ActPart(act=act)))
        except Refused as refusal:
            return PlainTextResponse(str(refusal), 403)
        except Swallowed:
            return PlainTextResponse(_ANOTHER, 403)
        return Response(status_code=204)


def sent_by(act: PageAct) -> Sent | None:
    """Return what an act has sent beside the page that may change something at its site; None for another act."""
    method, _, url = act.text.partition(" ")
    if act.kind != "request" or method in ("GET", "HEAD", "OPTIONS"):
        return None
    return Sent(method=method, url=url)
