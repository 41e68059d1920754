"""Forking at the window: what can be chosen at a step of a stored run, and the branch that is made of it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from core.agent.branching import mechanism_of
from core.agent.presets import AMOUNTS, bounds
from core.agent.run_history import Past
from core.debugger.branching.views import ForkAmount, ForkView, PolicyChoice
from core.debugger.service import telling
from core.debugger.session import Session
from core.debugger.views.agent import AMOUNT_LABELS
from core.schema.changes import Changes
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal

_GIVEN_UP = "The fork was given up. A run that was under way was left, and can be taken up again (Ctrl+M)."


class ForkDesk:
    """The `ForkDeskCommands` of the window."""

    def __init__(self, session: Session) -> None:
        self.changed: Signal[ForkView] = Signal()
        self._session = session
        self._view = ForkView(run=0, step=0)

    def open(self, run: int, step: int) -> None:
        async def work() -> None:
            self._view = ForkView(run=run, step=step)
            self._send(self._opened(run, step))

        self._post(work)

    def fork(self, run: int, step: int, changes: Changes, *, told: bool) -> None:
        async def work() -> None:
            view = self._opened(run, step)
            if view.lasting and not told:
                raise UsageError(
                    f"Going back to step {step} does not take back {view.lasting}. "
                    "Tick that you know it, or cancel."
                )
            _check(changes)
            self._send(view.replace(busy=True))
            try:
                made = await self._session.fork(run, step, changes)
            except asyncio.CancelledError:
                self._send(view.replace(problem=_GIVEN_UP))
                raise
            done = "" if made is not None else _GIVEN_UP
            self._send(view.replace(made=made, problem=done))

        self._post(work)

    def cancel(self) -> None:
        self._session.stop_opening()

    def _opened(self, run: int, step: int) -> ForkView:
        workshop = self._session.workshop()
        store = workshop.store
        detail, row, saved = store.step(run, step), store.run(run), Past(store, run).agent(step)
        earlier = store.changes(run)
        knowledge = workshop.knowledge_for(earlier)
        amounts = []
        preset = knowledge.presets.get(row.preset)
        for mechanism in AMOUNTS:
            if mechanism == "abstraction" and preset.abstraction and preset.abstraction.how != "ranked":
                continue
            least, most = bounds(mechanism)
            value = saved.amounts.get(mechanism, preset.amount(mechanism))
            label = AMOUNT_LABELS[mechanism]
            amounts.append(ForkAmount(mechanism=mechanism, label=label, value=value, least=least, most=most))
        policies = []
        for id in knowledge.policies.names():
            try:
                policy = knowledge.policies.get(id)
            except BackstepError:
                continue  # Its file is wrong, which is told where policies are used.
            text = earlier.policy_texts.get(id, policy.text)
            policies.append(PolicyChoice(id=id, text=text, path=str(policy.path)))
        return ForkView(
            run=run,
            step=step,
            ready=True,
            action=detail.row.action,
            task=f"{row.task}, seed {row.seed}",
            preset=row.preset,
            llm=row.llm,
            earlier=earlier,
            amounts=tuple(amounts),
            policies=tuple(policies),
            offline=row.offline,
            recorded=bool(store.network(run)),
            lasting=self._session.lasting(run, step),
        )

    def _send(self, view: ForkView) -> None:
        self._view = view
        self.changed.send(view)

    def _post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._session.queue(
            telling(
                work,
                lambda words: self._send(self._view.replace(problem=words, busy=False)),
            )
        )


def _check(changes: Changes) -> None:
    """Raise UsageError where a number is none that can be set."""
    for name, value in changes.amounts.items():
        least, most = bounds(mechanism_of(name))
        if not least <= value <= most:
            raise UsageError(f"{name} takes a number from {least} to {most}, not {value}.")
