import pytest

from core.debugger.ask_again.service import AskAgainService
from core.debugger.ask_again.views import AskView, Question
from core.settings.settings import LLMSettings
from tests.core.stage import llms_for, settings_for


class Asking:
    """A service with the views it has sent; each command is waited for."""

    def __init__(self, session) -> None:
        self.session = session
        self.views: list[AskView] = []
        self.service = AskAgainService(session)
        self.service.changed.connect(self.views.append)

    def open(self, run: int, step: int) -> AskView:
        self.service.open(run, step)
        return self._last_view()

    def ask(self, question: Question) -> AskView:
        self.service.ask(question)
        return self._last_view()

    def ask_credit(self, question: Question) -> AskView:
        self.service.ask_credit(question)
        return self._last_view()

    def write_exemplar(self, run: int, step: int, id: str) -> AskView:
        self.service.write_exemplar(run, step, id)
        return self._last_view()

    def _last_view(self) -> AskView:
        self.session.done()
        return self.views[-1]


@pytest.fixture
def asking(stage, llm_server, stand_in):
    """Questions about the stage's runs, answered by the server."""
    entry = LLMSettings(base_url=llm_server.base_url, model="test-model", attempts=1)
    llms = llms_for(settings_for(stage.settings.database, llms={"test": entry}))
    services = stage.services
    yield Asking(
        stand_in(
            store=services.store,
            thread=stage.thread,
            llms=llms,
            resources=services.resources,
            resources_for=services.resources_for,
        )
    )
    stage.thread.run(llms.close())
