"""What the agent is made of: its preset, its LLM, and the mechanisms that are switched for the run under way."""

from typing import get_args

from core.agent.presets import AMOUNTS, Mechanism
from core.debugger.command_queue import CommandQueue
from core.debugger.current import Current
from core.debugger.publisher import Publisher
from core.debugger.runner import Runner
from core.llm.registry import LLMs, RoutedLLM
from core.schema.errors import UsageError
from core.settings.user_file import near


class AgentSettings:
    """Commands from any thread, each of which only queues work; what is awaited runs in the worker's loop."""

    def __init__(
        self, current: Current, publisher: Publisher, runner: Runner, commands: CommandQueue
    ) -> None:
        self._current = current
        self._publisher = publisher
        self._runner = runner
        self._commands = commands

    # Commands

    def set_preset(self, name: str) -> None:
        """Use this preset from the next step on."""

        def work() -> None:
            self._current.need_services().knowledge.presets.get(name)
            before = self._publisher.session.preset
            self._publisher.change(preset=name)
            self.use_preset(name, before=before)
            self._publisher.change(**self._publisher.figures())

        self._commands.now(work)

    def set_llm(self, name: str) -> None:
        """Use this LLM from the next call on; a question that is open for the person is asked of it."""

        async def work() -> None:
            llm = self._current.need_services().llms.routed(name)
            before = self._publisher.session.llm
            self._publisher.change(llm=name)
            await self.use_llm(llm, before=before)

        self._commands.post(work)

    def set_mechanism(self, name: str, on: bool) -> None:
        """Switch a mechanism on or off from the next step on, whatever the preset says."""

        def work() -> None:
            run = self._current.under_way
            if name not in get_args(Mechanism):
                raise UsageError(f'There is no mechanism "{name}"; {near(name, get_args(Mechanism))}')
            if run is None:
                self._publisher.change(
                    message="Open a task first (Ctrl+N): a switch holds for the run under way."
                )
                return
            mechanism: Mechanism = name  # type: ignore[assignment]
            if run.state.is_on(mechanism) != on:
                self._current.store_intervention("switch", "" if on else name, name if on else "")
                run.switch(mechanism, on)
            self._publisher.change(**self._publisher.figures())

        self._commands.now(work)

    def set_amount(self, name: str, value: int) -> None:
        """Set the number of a mechanism, such as of remedies at each action, whatever the preset says."""

        def work() -> None:
            if name not in AMOUNTS:
                raise UsageError(f'"{name}" has no number to set; {near(name, tuple(AMOUNTS))}')
            run = self._current.need_run("A number holds for the run under way.")
            mechanism: Mechanism = name
            before, after = run.set_amount(mechanism, value)
            if before != after:
                self._current.store_intervention("switch", f"{name} {before}", f"{name} {after}")
            self._publisher.change(**self._publisher.figures())

        self._commands.now(work)

    # In the worker's loop

    def use_preset(self, name: str, *, before: str) -> None:
        """Go on with this preset, where a run is under way; raises UsageError, DataError and TraceError."""
        run = self._current.under_way
        if run is None:
            return
        if name != before:
            self._current.store_intervention("preset", before, name)
        run.use(preset=self._current.need_services().knowledge.presets.get(name))

    async def use_llm(self, llm: RoutedLLM, *, before: str) -> None:
        """Go on with this LLM; a person's open question is withdrawn where it is not theirs any more."""
        run = self._current.under_way
        if run is None:
            return
        if llm.name != before:
            self._current.store_intervention("llm", before, llm.name)
        run.use(llm=llm)
        person, out = self._current.need_services().llms.person, run.asking
        if out is not None and out.llm == person.name and llm.llm_for(out.purpose) is not person:
            await self._runner.ask_anew(f"{llm.name} was chosen in place of {before}")

    async def use_llms(self, llms: LLMs) -> None:
        """Go on with these LLMs, which have the person of the old ones, and offer them.

        A call that is out is withdrawn and asked anew: whoever was to answer
        it is let go of. Where the LLM in use is gone, the built-in rules
        answer from then on.
        """
        services = self._current.need_services()
        before = self._publisher.session.llm
        try:
            llm = llms.routed(before)
        except UsageError as error:
            self._publisher.log("warning", "LLM", f"{error} The built-in rules answer from now on.")
            llm = llms.routed("rules")
        old, services.llms = services.llms, llms
        self._publisher.change(llm=llm.name)
        self._publisher.send_catalogue(services)
        try:
            await self.use_llm(llm, before=before)
            if self._current.run is not None and self._current.run.asking is not None:
                await self._runner.ask_anew("the settings of the LLMs were changed")
        finally:
            await old.close()
