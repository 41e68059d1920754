"""WebArena: its tasks from its own configuration files, for users who run its sites.

Sites are not reset between runs: tasks that change one carry the tag ``reset``. What the
judges do is in core/environments/webarena_judge.py.
"""

import os
from collections.abc import Mapping, Sequence

from core.environments.protocol import Ask, Environment, PageDriver, TabOpener
from core.environments.web import full_url, with_scheme
from core.environments.webarena_config import (
    SITES,
    WebArenaConfig,
    read_storage_state,
    with_sites,
)
from core.environments.webarena_judge import judge_config
from core.schema.errors import BrowserError
from core.schema.hosts import site_of
from core.schema.task import PARTLY_JUDGED, Episode, Task, Verdict


class WebArena(Environment):
    """The tasks of WebArena configuration files."""

    id = "webarena"
    title = "WebArena"

    def __init__(self, configs: Sequence[WebArenaConfig], sites: Mapping[str, str] | None = None) -> None:
        """`sites` maps SHOPPING, GITLAB and so on to addresses; None reads the process's environment."""
        self._sites = dict(os.environ if sites is None else sites)
        given = filter(None, (self._sites.get(name, "").strip() for name in SITES))
        own = tuple(site_of(with_scheme(address)) for address in given)
        self._tasks = tuple(_task(config).replace(sites=own) for config in configs)

    def tasks(self) -> tuple[Task, ...]:
        return self._tasks

    async def open(self, task: Task, seed: int, page: PageDriver) -> Episode:
        """Log in with the task's storage state and open its start pages; the first is the current tab."""
        config = self._config(task)
        urls = [full_url(url) for url in config.start_urls]
        state = read_storage_state(config, task.id)
        if len(urls) > 1 and not isinstance(page, TabOpener):
            raise BrowserError(f"{task.id} starts in {len(urls)} tabs, but only one can be opened here.")
        if state.cookies:
            await page.set_cookies([cookie.as_protocol() for cookie in state.cookies])
        for origin in state.origins:
            items = {item.name: item.value for item in origin.local_storage}
            if items:
                await page.set_local_storage(origin.origin, items)
        await page.goto(urls[0])
        if isinstance(page, TabOpener):
            for url in urls[1:]:
                await page.open_tab(url)
        return Episode(task=task, seed=seed, instruction=config.intent, start_url=urls[0])

    async def judge(self, episode: Episode, page: PageDriver, answer: str, ask: Ask | None = None) -> Verdict:
        config = self._config(episode.task)
        return await judge_config(config, page, answer, ask, self._sites, episode.task.id)

    def _config(self, task: Task) -> WebArenaConfig:
        return WebArenaConfig.model_validate(with_sites(task.details["config"], self._sites, task.id))


def _task(config: WebArenaConfig) -> Task:
    tags = [*config.sites, *config.eval.eval_types]
    if config.eval.reference_answers.fuzzy_match is not None:
        tags.append("fuzzy_match")
    if config.require_login:
        tags.append("login")
    if config.require_reset:
        tags.append("reset")
    if config.unjudged:
        tags.append(PARTLY_JUDGED)
    return Task(
        id=f"webarena/{config.task_id}",
        environment="webarena",
        instruction=config.intent,
        start_url=config.start_urls[0],
        tags=tuple(tags),
        viewport=config.viewport,
        details={"config": config.model_dump(mode="json", exclude_unset=True)},
    )
