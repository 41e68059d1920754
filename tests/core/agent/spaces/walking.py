"""A walk over a real site by the actions of its state space, as the loop would take them."""

import time

from core.agent.spaces.file import StateSpace
from core.agent.spaces.macros import fill, macro_steps, memory_after
from core.agent.spaces.reading import noticed
from core.agent.spaces.recognition import offered_actions, recognise_state
from core.browser.driver import TabDriver
from core.browser.settling import Bounds
from core.schema.action import Goto, Named
from core.schema.action_space import Permissible, PermissibleAction
from core.schema.observation import Observation
from core.schema.progress import SpaceMemory
from core.schema.task import Verdict
from tests.core.stage import SECONDS, Stage

PATIENT = Bounds(load=SECONDS, rest=SECONDS, requests=SECONDS, quiet=SECONDS, whole=3 * SECONDS)
"""A loaded machine answers late, and what is walked over here comes to rest."""


class Walk:
    """One task of a site, opened in the installed Chromium; every page it comes to is recognised."""

    def __init__(self, stage: Stage, space: StateSpace, task: str, seed: int = 0) -> None:
        self.space = space
        self.memory = SpaceMemory()
        self.walked: set[tuple[str, str]] = set()
        """Which action of which state was carried out."""
        self._thread = stage.thread
        services = stage.services
        found = services.environments.find(task)
        self._world = services.world(found)
        self._thread.run(services.tabs.open_profile())
        self._world.begin(found)  # Else the sites of the run before would hold.
        self._driver = TabDriver(services.tabs)
        self.episode = self._thread.run(self._world.environment.open(found, seed, self._driver))
        self._capture = self._thread.run(self._world.read())
        self.state = self._recognised()

    @property
    def page(self) -> Observation:
        return self._capture.observation

    @property
    def origin(self) -> str:
        return "/".join(self.page.url.split("/")[:3])

    @property
    def offered(self) -> dict[str, PermissibleAction]:
        """What the state allows on this very page, by name."""
        state = self.space.state_named(self.state)
        assert state is not None
        actions = offered_actions(state, self.page, self._capture.html, self.memory)
        return {one.name: one for one in actions}

    def values(self, action: str, parameter: str) -> list[str]:
        found = self.offered[action].parameter(parameter)
        assert found is not None
        return [choice.value for choice in found.choices or ()]

    def first_values(self, action: str) -> dict[str, str]:
        """Return the first value of each argument that has a list."""
        return {one.name: one.choices[0].value for one in self.offered[action].parameters if one.choices}

    def do(self, name: str, **arguments: str) -> str:
        """Carry an action out; it has to be permissible with these arguments and lead where it says."""
        here = self.state
        allowed = self.offered[name]
        parts = tuple(arguments.get(one.name, "") for one in allowed.parameters)
        assert set(arguments) <= {one.name for one in allowed.parameters}
        assert Permissible(actions=(allowed,)).problem(Named(name=name, arguments=parts)) is None
        state = self.space.state_named(here)
        assert state is not None
        action = state.action_named(name)
        assert action is not None
        given = allowed.arguments(Named(name=name, arguments=parts))
        url, title = self.page.url, self.page.title
        for step in macro_steps(action, given, self.page):
            primitive = fill(step, action, given, self.page)
            if primitive is not None:
                self._thread.run(self._act(primitive))
        self.memory = memory_after(
            self.memory, action, given, state, step=1, thought="", url=url, title=title
        )
        self.walked.add((here, name))
        self.state = self._recognised()
        self.memory = self.memory.arrived(self.state)
        assert self.state in action.leads_to, f"{here}: {name} led to {self.state}"
        return self.state

    def go(self, path: str) -> str:
        """Open an address of the site, as a person may; return the state it is."""
        self._thread.run(self._act(Goto(url=self.origin + path)))
        self.state = self._recognised()
        return self.state

    def verdict(self) -> Verdict:
        return self._thread.run(self._world.environment.judge(self.episode, self._driver, ""))

    def all_actions(self) -> set[tuple[str, str]]:
        return {(state.name, action.name) for state in self.space.state for action in state.action}

    async def _act(self, action) -> None:
        tabs = self._world.tabs
        mark = tabs.mark()
        await self._world.actor.act(action)
        await tabs.settle(mark, PATIENT)
        self._capture = await self._world.read()

    def _recognised(self) -> str:
        found = recognise_state(self.space, self.page)
        deadline = time.monotonic() + SECONDS
        while found.state is None and time.monotonic() < deadline:
            # On a loaded machine it may have been read between its new address and its content.
            self._capture = self._thread.run(self._world.read())
            found = recognise_state(self.space, self.page)
        assert found.state is not None, found.why
        assert found.also == (), found.why
        state = self.space.state_named(found.state)
        assert state is not None
        self.memory = noticed(self.memory, state, self.page, self._capture.html, step=1)
        return found.state
