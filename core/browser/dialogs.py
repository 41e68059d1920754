"""Dialogs of pages that are not answered by rule: by an attached agent, or as an action said before."""

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from threading import Lock
from typing import NamedTuple

from core.schema.events import TabId

_MOST_GIVEN = 50
PLANNED = " as an action said before"
SECONDS = 5.0
"""So long an agent has for answering a dialog; the page stands still meanwhile."""


class DialogAnswer(NamedTuple):
    """What an agent answers."""

    accepted: bool
    text: str = ""
    """What is entered, where the page asks for a text."""


class GivenAnswer(NamedTuple):
    """How a confirm or prompt was answered."""

    kind: str
    message: str
    answer: DialogAnswer
    by_rule: str = ""
    """What was asked and answered, where nobody could be asked."""


class AgentDialogs:
    """The agents that answer the dialogs of tabs; hosts and agents use it from threads of their own.

    Agents hear of a dialog from the engine, so an answer may come before the host asks for it. The first answer of an
    agent is for the first dialog of the tab, and so on.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._listeners: dict[TabId, object] = {}
        self._asked: dict[TabId, deque[Future[DialogAnswer]]] = {}
        self._early: dict[TabId, deque[DialogAnswer]] = {}
        self._planned: deque[tuple[bool, str | None]] = deque()
        self._given: deque[GivenAnswer] = deque(maxlen=_MOST_GIVEN)

    def plan(self, answers: Iterable[tuple[bool, str | None]]) -> None:
        """Answer the next confirms and prompts so, of any tab: whether yes, and a text or None for the default.

        What was planned before and not asked for is dropped.
        """
        with self._lock:
            self._planned = deque(answers)

    def planned(self, kind: str, default: str) -> DialogAnswer | None:
        """Return the answer planned for a dialog that comes now, once; None for none."""
        with self._lock:
            if not self._planned or kind not in ("confirm", "prompt"):
                return None
            accepted, text = self._planned.popleft()
            return DialogAnswer(accepted, default if text is None else text)

    def give(self, kind: str, message: str, answer: DialogAnswer, by_rule: str = "") -> None:
        """Keep how a dialog was answered, for whoever records it."""
        with self._lock:
            if kind in ("confirm", "prompt"):
                self._given.append(GivenAnswer(kind, message, answer, by_rule))

    def take_given(self) -> tuple[GivenAnswer, ...]:
        """Return the answers given since the last call, in order."""
        with self._lock:
            given = tuple(self._given)
            self._given.clear()
            return given

    def listen(self, tab: TabId, agent: object) -> None:
        """Let an agent answer the dialogs of a tab, if no other one does."""
        with self._lock:
            self._listeners.setdefault(tab, agent)

    def leave(self, agent: object) -> None:
        """An agent answers no more."""
        with self._lock:
            for tab in [tab for tab, one in self._listeners.items() if one is agent]:
                del self._listeners[tab]
                self._early.pop(tab, None)
                for future in self._asked.pop(tab, ()):
                    future.cancel()

    def ask(self, tab: TabId) -> Future[DialogAnswer] | None:
        """Return the answer of the agent, which may come; None if none listens to the tab."""
        with self._lock:
            if tab not in self._listeners:
                return None
            future: Future[DialogAnswer] = Future()
            early = self._early.get(tab)
            if early:
                future.set_result(early.popleft())
            else:
                self._asked.setdefault(tab, deque()).append(future)
            return future

    def answer(self, tab: TabId, agent: object, answer: DialogAnswer) -> None:
        """Take an agent's answer; one that comes too late, or from an agent that is not asked, changes nothing."""
        with self._lock:
            if self._listeners.get(tab) is not agent:
                return
            asked = self._asked.get(tab)
            if not asked:
                self._early.setdefault(tab, deque()).append(answer)
            elif (future := asked.popleft()).set_running_or_notify_cancel():
                future.set_result(answer)


def answer_of(asked: Future[DialogAnswer], rule: DialogAnswer) -> tuple[DialogAnswer, str]:
    """Return the answer that an agent has given by now, or the rule's, and who answered."""
    if asked.done() and not asked.cancelled():
        return asked.result(), " by the agent"
    asked.cancel()
    return rule, f" by rule, for the agent had not answered within {SECONDS:g} s"


def told(kind: str, message: str, answer: DialogAnswer, by: str) -> str:
    """Return what is said of a dialog; `by` says who answered, and why."""
    done = "accepted" if answer.accepted else "dismissed"
    return f'The page asked ({kind}): "{message}"; it was {done}{by}.'
