"""The exemplar command: written actions carried out in a task's page, and kept where they are a success."""

import re
from pathlib import Path

from core.browser.host import BrowserHost
from core.cli.browsers import WithEmbedded, WithLoop, in_browser
from core.cli.output import put, say
from core.debugger.exemplars.recording.scripted import (
    Look,
    RecordedExemplar,
    exemplar_of,
    open_world,
    perform,
    written,
)
from core.environments.registry import Environments
from core.llm.replies import read_lines
from core.memory.files import read_exemplars, write_exemplars
from core.schema.action import parse_action
from core.schema.errors import ActionSyntaxError, DataError
from core.schema.messages import LLMReply
from core.schema.record import Record
from core.settings.settings import Settings
from core.settings.user_file import read_text


class ExemplarArguments(Record):
    """What the exemplar command was given."""

    task: str
    seed: int
    url: str = ""
    instruction: str = ""
    actions: Path | None = None
    output: Path | None = None
    family: str = ""
    parser: Path | None = None


def record(
    arguments: ExemplarArguments,
    settings: Settings,
    environments: Environments,
    *,
    with_embedded: WithEmbedded[RecordedExemplar],
    with_loop: WithLoop[RecordedExemplar],
) -> bool:
    """Carry the actions out and return whether they were a success.

    A success goes into the file of exemplars, where there is one to write:
    behind what it holds, or in place of the exemplar of the same task and
    seed. Otherwise the page is printed as the actions left it. Raises
    BackstepError where a file cannot be used or the task cannot be opened.
    """
    task = environments.find(arguments.task, url=arguments.url, instruction=arguments.instruction)
    looks = () if arguments.actions is None else read_looks(read_text(arguments.actions), arguments.actions)
    parser = "" if arguments.parser is None else read_text(arguments.parser).strip()
    output = arguments.output
    kept = read_exemplars(output) if output is not None and output.exists() else ()

    async def work(host: BrowserHost) -> RecordedExemplar:
        try:
            async with open_world(host, environments, task) as world:
                return await perform(world, task, arguments.seed, written(looks))
        finally:
            await environments.close()

    recorded = in_browser(work, settings, with_embedded=with_embedded, with_loop=with_loop)
    if recorded.problem:
        put(f"task: {recorded.instruction}")
        put(recorded.page.lines())
        if looks:
            say(f"Nothing was kept: {recorded.problem}")
        return not looks
    exemplar = exemplar_of(recorded, task, arguments.seed, family=arguments.family, parser=parser)
    if output is None:
        say(f"{exemplar.source}: a success. Name a file with -o to keep it.")
        return True
    others = [one for one in kept if one.id != exemplar.id]
    write_exemplars(output, [*others, exemplar])
    say(f"{output}: {exemplar.id} of the family {exemplar.family}, {len(exemplar.steps)} looks.")
    return True


def read_looks(text: str, path: Path) -> tuple[Look, ...]:
    """Read looks from text: a blank line between two, each a REASON line and its ACTION lines.

    Raises DataError, which numbers the look that cannot be read.
    """
    looks: list[Look] = []
    blocks = (block for block in re.split(r"\n[ \t]*(?:\n|$)", text) if block.strip())
    for number, block in enumerate(blocks, start=1):
        read = read_lines(LLMReply(text=block))
        if read.problem:
            raise DataError(f"{path}, look {number}: there is no ACTION line, such as ACTION: click [12].")
        actions = tuple(str(action) for action in read.actions)
        for action in actions:
            try:
                parse_action(action)
            except ActionSyntaxError as error:
                raise DataError(f"{path}, look {number}: {error}") from error
        looks.append(Look(thought=" ".join(read.thought.split()), actions=actions))
    return tuple(looks)
