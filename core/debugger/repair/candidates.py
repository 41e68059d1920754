"""Changes that may mend a failed run: from the patches of its causes, from blocks of a text, and from a folder."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from core.agent.resources import AgentResources
from core.debugger.causes.finding import causes_of
from core.debugger.causes.records import Cause
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.records import Candidate
from core.schema.errors import BackstepError, UsageError
from core.trace.records import RunRow
from core.trace.store import TraceStore

_MOST_ALIKE = 60
"""Failed runs, at most, that are looked at for the same cause."""
_BLOCK = re.compile(
    r"^[`*# ]*(?P<file>[\w./-]+?)[`*:]*[ \t]*\n(?:```\w*[ \t]*\n)?<{5,9} ?SEARCH[ \t]*\n(?P<find>.*?)^={5,9}[ \t]*\n"
    r"(?P<put>.*?)^>{5,9} ?REPLACE[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


class RefusedBlock(NamedTuple):
    """A block that cannot be applied."""

    file: str
    why: str


def from_causes(
    causes: Iterable[Cause], files: AgentFiles, resources: AgentResources
) -> tuple[Candidate, ...]:
    """Return what the patches of causes come to, the likeliest first; those that do not fit the files are left out."""
    found: dict[tuple[str, str], Candidate] = {}
    for cause in causes:
        patch = cause.patch
        if patch is None:
            continue
        texts, refused = applied([(patch.file, patch.find, patch.put)], files, resources)
        if refused or not texts:
            continue
        candidate = Candidate(
            what=f"{cause.place}: {cause.what}", origin="cause", kind=cause.kind, files=texts, step=cause.step
        )
        found.setdefault((patch.file, texts[patch.file]), candidate)
    return tuple(found.values())


def blocks_of(text: str) -> list[tuple[str, str, str]]:
    """Return the search-and-replace blocks of a text: file, what is to be there once, and what replaces it."""
    return [
        (match["file"], match["find"], match["put"]) for match in _BLOCK.finditer(text.replace("\r\n", "\n"))
    ]


def applied(
    blocks: Sequence[tuple[str, str, str]], files: AgentFiles, resources: AgentResources
) -> tuple[dict[str, str], list[RefusedBlock]]:
    """Return the whole texts of files after these blocks, and why others were refused; nothing is written.

    A block has to be of a file of the agent, what it searches has to be there once, and the file has to stay valid.
    """
    texts: dict[str, str] = {}
    refused: list[RefusedBlock] = []
    for name, find, put in blocks:
        try:
            text = texts[name] if name in texts else files.read(name)
        except BackstepError as error:
            refused.append(RefusedBlock(name, str(error)))
            continue
        count = text.count(find) if find else 0
        if count == 1:
            texts[name] = text.replace(find, put)
        elif not find:
            refused.append(RefusedBlock(name, "The block searches for nothing."))
        else:
            how = f"occurs {count} times" if count else _nearest_line(find, text)
            refused.append(RefusedBlock(name, f"The searched text {how}; it has to be there exactly once."))
    for name, text in texts.items():
        try:
            if text == files.read(name):
                refused.append(RefusedBlock(name, "The block changes nothing."))
            with files.with_draft(name, text, resources):
                pass
        except BackstepError as error:
            refused.append(RefusedBlock(name, str(error)))
    return texts, refused


def _nearest_line(find: str, text: str) -> str:
    """Return that a text is not there, with the line that is most like its first."""
    first = next((line for line in find.splitlines() if line.strip()), "")
    if first in text:
        return "is not there, although its first line is"
    close = get_close_matches(first, text.splitlines(), n=1)
    return f"is not there (the nearest line is {close[0].strip()!r})" if close else "is not there"


def from_files(
    files: dict[str, str], own: AgentFiles, resources: AgentResources, what: str = ""
) -> Candidate:
    """Return the change that whole files make; raises UsageError and DataError for one that is wrong or no change."""
    for name, text in files.items():
        with own.with_draft(name, text, resources):
            pass
    names = own.names()
    changed = {name: text for name, text in files.items() if name not in names or own.read(name) != text}
    if not changed:
        raise UsageError("These files are the same as those in use, so there is nothing to prove.")
    return Candidate(what=what or f"changed {', '.join(changed)}", files=changed)


def from_blocks(text: str, files: AgentFiles, resources: AgentResources) -> Candidate:
    """Return the change that search-and-replace blocks make; raises UsageError with all that is wrong in them."""
    texts, refused = applied(blocks_of(text), files, resources)
    if refused:
        raise UsageError("\n".join(f"{each.file}: {each.why}" for each in refused))
    if not texts:
        raise UsageError(
            "There is no block in these edits. A block is the name of a file in a line of its own, <<<<<<< SEARCH, the "
            "text that is there once, =======, the text that replaces it, and >>>>>>> REPLACE."
        )
    return Candidate(what=f"edits of {', '.join(texts)}", files=texts)


def alike_runs(
    store: TraceStore, row: RunRow, resources: AgentResources, files: AgentFiles
) -> tuple[int, ...]:
    """Return other failed runs, newest first, whose first cause is in the same place; raises TraceError."""
    own = next(iter(causes_of(store, row.run, resources, files)), None)
    if own is None or not own.file:
        return ()
    like = [
        each
        for each in store.runs(outcome="no success", limit=_MOST_ALIKE * 4)
        if (each.preset, each.llm, each.environment) == (row.preset, row.llm, row.environment)
        and each.run != row.run
        and each.parent_run is None
        and each.outcome != "running"
    ]
    found = []
    for each in like[:_MOST_ALIKE]:
        first = next(iter(causes_of(store, each.run, resources, files)), None)
        if first is not None and (first.file, first.line) == (own.file, own.line):
            found.append(each.run)
    return tuple(found)


def keep(candidate: Candidate, files: AgentFiles) -> tuple[str, ...]:
    """Write the files of a candidate to the user's own, and return their paths; raises DataError."""
    for name, text in candidate.files.items():
        files.write(name, text)
    return tuple(str(files.target(name)) for name in candidate.files)
