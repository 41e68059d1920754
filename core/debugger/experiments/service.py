"""Experiments: what runs come to when they are done several times, in the background and beside each other."""

from typing import TYPE_CHECKING

from core.debugger.experiments.bisect_service import BisectService
from core.debugger.experiments.evaluation_service import EvaluationService

if TYPE_CHECKING:
    from core.debugger.session import Session


class Experiments:
    """The services of the experiments."""

    def __init__(self, session: "Session") -> None:
        self.bisect = BisectService(session)
        self.evaluation = EvaluationService(session)


def make_service(session: "Session") -> Experiments:
    return Experiments(session)
