"""The addresses of one agent, and their server."""

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount

from core.agent.llm_calls import Answerer
from core.attach.addresses import Addresses
from core.attach.attachment import Attachment, HeldAct
from core.attach.browser_proxy import BrowserProxy
from core.attach.clock import HeldClock
from core.attach.gateway import AgentQuestion, Gateway
from core.attach.partly import Partly
from core.attach.requests_beside import RequestsAddress
from core.attach.server import AgentServer
from core.attach.told import TellingAddress
from core.attach.upstream import answer_beside
from core.browser.host import BrowserHost


class AgentBridge:
    """Serves an agent's addresses; the browser of `host` need not run yet."""

    def __init__(self, host: BrowserHost, llm: Callable[[], Answerer], clock: HeldClock) -> None:
        """`llm` gives who answers what is not a question."""
        self.attachment = Attachment(clock)

        async def forward(path: str, body: dict[str, object] | None) -> Response:
            return await answer_beside(llm(), path, body)

        self._proxy = BrowserProxy(host, self.attachment.on_act)
        self.partly = Partly(lambda: self._proxy.connected)
        self.attachment.on_begun = self._on_begun
        self._gateway = Gateway(self._on_question, forward, self.partly)
        self._telling = TellingAddress(self.attachment.on_told)
        self._requests = RequestsAddress(self.attachment.on_act)
        routes = [
            Mount("/v1", self._gateway.app()),
            Mount(self._proxy.path, self._proxy.app()),
            Mount(self._telling.path, self._telling.app()),
            Mount(self._requests.path, self._requests.app()),
            Mount("/", self._gateway.app()),  # Clients of other formats add the version to the path.
        ]
        self._server = AgentServer(Starlette(routes=routes))

    def _on_begun(self, held: HeldAct) -> None:
        if not held.act.doubtful:
            self.partly.acted(held.act.kind)

    async def _on_question(self, question: AgentQuestion) -> None:
        for connection in self._proxy.connections:
            connection.end_refusals()
        await self.attachment.on_question(question)

    async def start(self) -> Addresses:
        """Begin to serve; raises BackstepError if no port can be had."""
        await self._server.start()
        server = f"http://127.0.0.1:{self._server.port}"
        self.partly.llm = f"{server}/v1"
        return Addresses(
            llm=f"{server}/v1",
            key=self._gateway.key,
            browser=f"{server}{self._proxy.path}",
            sdk=f"{server}{self._telling.path}/",
            requests=f"{server}{self._requests.path}/",
        )

    async def close(self) -> None:
        """Release the agent: what it waits for is refused, and its connections end."""
        self.attachment.close()
        await self._gateway.close()
        await self._proxy.close()
        await self._server.close()
        self.attachment.clock.close()
