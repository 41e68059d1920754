"""Where the words of a step come from."""

from typing import TYPE_CHECKING

from core.debugger.provenance.sources import why
from core.debugger.provenance.views import WhyQuestion, WhyView
from core.debugger.service import LatestAnswer, Service, command

if TYPE_CHECKING:
    from core.debugger.session import Session


def make_service(session: "Session") -> "ProvenanceService":
    return ProvenanceService(session)


class ProvenanceService(Service[WhyView]):
    """Looks for a text in everything that a step was made from."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session, WhyView(run=0, step=0))
        self._questions = LatestAnswer(session)

    @command
    async def explain(self, question: WhyQuestion) -> None:
        """Look for the words of the question; of several questions in a row only the last is answered."""
        empty = WhyView(run=question.run, step=question.step, text=question.text, ref=question.ref)
        await self._questions.read(
            lambda store: why(store, question),
            lambda problem: empty.replace(problem=problem),
            self.send,
        )
