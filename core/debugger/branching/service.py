"""Fork: what can be changed at a step of a stored run, and the resulting branch."""

import asyncio

from core.agent.branching import mechanism_of
from core.agent.presets import ATTACHED, bounds
from core.agent.run_history import RunHistory
from core.debugger.branching.views import ForkView, PolicyChoice
from core.debugger.commands import command
from core.debugger.service import Service
from core.debugger.steps.mechanisms import amounts_of
from core.schema.changes import Changes
from core.schema.errors import BackstepError, UsageError

_GIVEN_UP = "The fork was cancelled. You can continue the previous run (Ctrl+M)."


class ForkService(Service[ForkView]):
    """Shows what a fork at a step can change, and makes it."""

    view = ForkView(run=0, step=0)

    def failed(self, problem: str) -> None:
        self.show(problem=problem, busy=False)

    @command
    async def open(self, run: int, step: int) -> None:
        """Show what can be chosen at this step."""
        self.view = ForkView(run=run, step=step)
        self.send(self._opened(run, step))

    @command
    async def fork(self, run: int, step: int, changes: Changes, *, confirmed: bool) -> None:
        """Fork the run; `confirmed` says that the person knows what going back does not undo."""
        view = self._opened(run, step)
        if view.irreversible and not confirmed:
            raise UsageError(f"{view.irreversible}. Tick the box to accept this, or cancel.")
        _check(changes)
        self.send(view.replace(busy=True))
        try:
            made = await self.session.branches.fork(run, step, changes)
        except asyncio.CancelledError:
            self.send(view.replace(problem=_GIVEN_UP))
            raise
        self.send(view.replace(made=made, problem="" if made is not None else _GIVEN_UP))

    def cancel(self) -> None:
        """Give up the current fork."""
        self.session.tasks.stop_opening()

    def _opened(self, run: int, step: int) -> ForkView:
        services = self.services
        store = services.store
        detail, row, saved = store.step(run, step), store.run(run), RunHistory(store, run).agent(step)
        earlier = store.changes(run)
        resources = services.resources_for(earlier)
        preset = ATTACHED if row.preset == ATTACHED.name else resources.presets.get(row.preset)
        amounts = amounts_of(preset, saved.amounts)
        policies = []
        for id in resources.policies.names():
            try:
                policy = resources.policies.get(id)
            except BackstepError:
                continue  # Its file is wrong, which is reported where policies are used.
            text = earlier.policy_texts.get(id, policy.text)
            policies.append(PolicyChoice(id=id, text=text, path=str(policy.path)))
        return ForkView(
            run=run,
            step=step,
            ready=True,
            action=detail.row.action,
            task=f"{row.task}, seed {row.seed}",
            preset=row.preset,
            attached=row.preset == ATTACHED.name,
            llm=row.llm,
            earlier=earlier,
            amounts=tuple(amounts.values()),
            policies=tuple(policies),
            offline=row.offline,
            recorded=bool(store.pages.network(run)),
            irreversible=self.session.branches.not_taken_back(run, step),
        )


def _check(changes: Changes) -> None:
    """Raise UsageError if a number is none that can be set."""
    for name, value in changes.amounts.items():
        least, most = bounds(mechanism_of(name))
        if not least <= value <= most:
            raise UsageError(f"{name} takes a number from {least} to {most}, not {value}.")


make_service = ForkService
