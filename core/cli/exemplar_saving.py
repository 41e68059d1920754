"""The commands that make exemplars: from a stored run, and from a script of actions."""

import re
from contextlib import closing
from pathlib import Path

from core.browser.host import BrowserHost
from core.cli.options import KeepOptions, settings_with
from core.cli.output import put, put_json, put_lines, put_table, say
from core.cli.runs import reading
from core.cli.surroundings import WithEmbedded, in_browser
from core.debugger.exemplars.saving.selection import Selection, exemplar_of_run
from core.debugger.exemplars.scripted import Look, RecordedExemplar, exemplar_of, open_world, perform, written
from core.environments.registry import Environments
from core.exemplars.files import read_exemplars, write_exemplars
from core.exemplars.library.records import LIBRARY_NAME, first_review
from core.exemplars.library.store import Library
from core.llm.replies import read_lines
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, DataError, UsageError
from core.schema.messages import LLMReply
from core.schema.task import Task
from core.settings.settings import Settings
from core.settings.user_file import read_text


def keep_run(asked: KeepOptions) -> None:
    """Show a run as it would be prompted with and keep it; raises UsageError if it is not a success.

    Just the steps that are asked for are kept, or without any those that the run itself suggests; one that was not
    judged a success only with `anyway`.
    """
    settings, run = settings_with(db=asked.db), asked.run
    with reading(settings) as store:
        chosen = frozenset(asked.step or ()) or None
        kept = exemplar_of_run(
            store, run, first=asked.first, last=asked.last, family=asked.family, chosen=chosen
        )
    if not asked.as_json:
        _show(kept)
    if not kept.successful and not asked.anyway and not asked.dry_run:
        raise UsageError(f"Run {run} was not judged a success. To save it anyway, use --anyway.")
    path: Path | None = None
    if not asked.dry_run:
        path = settings.database.parent / LIBRARY_NAME
        with closing(Library.open(path)) as library:
            library.save(
                kept.exemplar.replace(review=first_review(kept.provenance.origin)),
                kept.provenance,
                why=f"kept from run {run}",
            )
    if asked.as_json:
        put_json({**kept.model_dump(mode="json"), "kept_in": str(path) if path else None})
    say(f"{kept.exemplar.id} was saved in {path}." if path else "Nothing was saved.")


def _show(kept: Selection) -> None:
    exemplar = kept.exemplar
    put(f"{exemplar.id}  family {exemplar.family}  {len(exemplar.steps)} steps")
    put(exemplar.task)
    for number, look in enumerate(exemplar.steps, start=1):
        put_lines(f"{number}. {look.thought}\n{'; '.join(look.actions)}")
    for contrast in exemplar.contrasts:
        put(f"Not {contrast.tried} but {contrast.right}.")
    if kept.left_out:
        put_table(
            ("step", "left out", "why"), [(str(one.step), one.action, one.why) for one in kept.left_out]
        )


def record(
    settings: Settings,
    environments: Environments,
    with_embedded: WithEmbedded,
    task: Task,
    seed: int,
    *,
    actions: Path | None,
    output: Path | None,
    family: str,
    parser: Path | None,
) -> bool:
    """Carry the actions out and return whether they were a success.

    A success goes into the file of exemplars, if there is one to write:
    behind what it holds, or in place of the exemplar of the same task and
    seed. Otherwise the page is printed as the actions left it. Raises
    BackstepError where a file cannot be used or the task cannot be opened.
    """
    if output is not None and output.suffix != ".jsonl":
        raise UsageError(
            f"{output} would not be read as a file of JSON lines; give a name that ends in .jsonl."
        )
    looks = () if actions is None else read_looks(read_text(actions), actions)
    program = "" if parser is None else read_text(parser).strip()
    kept = read_exemplars(output) if output is not None and output.exists() else ()

    async def work(host: BrowserHost) -> RecordedExemplar:
        try:
            async with open_world(host, environments, task, settings.viewport) as world:
                return await perform(world, task, seed, written(looks))
        finally:
            await environments.close()

    recorded = in_browser(work, settings, with_embedded)
    if recorded.problem:
        put_lines(f"task: {recorded.instruction}\n{recorded.page.lines()}")
        if looks:
            say(f"Nothing was saved: {recorded.problem}")
        return not looks
    exemplar = exemplar_of(recorded, task, seed, family=family, parser=program)
    if output is None:
        say(f"{exemplar.source}: a success. To save it, name a file with -o.")
        return True
    others = [one for one in kept if one.id != exemplar.id]
    write_exemplars(output, [*others, exemplar])
    say(f"{output}: {exemplar.id} of the family {exemplar.family}, {len(exemplar.steps)} steps.")
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
            raise DataError(f"{path}, step {number}: there is no ACTION line, such as ACTION: click [12].")
        actions = tuple(str(action) for action in read.actions)
        for action in actions:
            try:
                parse_action(action)
            except ActionSyntaxError as error:
                raise DataError(f"{path}, step {number}: {error}") from error
        looks.append(Look(thought=" ".join(read.thought.split()), actions=actions))
    return tuple(looks)
