"""Changes that may mend a failed run: from the patches of its causes, from blocks of a text, and from a folder."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, NamedTuple

from core.agent.resources import OWN_FOLDERS, AgentResources
from core.debugger.causes.finding import causes_of
from core.debugger.causes.records import Cause
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.proof_records import Candidate
from core.schema.errors import BackstepError, DataError, UsageError
from core.settings.user_file import near
from core.trace.records import RunRow
from core.trace.store import TraceStore

_MOST_ALIKE = 60
"""Failed runs, at most, that are looked at for the same cause."""
_BEGIN = re.compile(r"^[ \t]*<{3,} ?SEARCH", re.MULTILINE)
_BLOCK = re.compile(
    r"<{5,9} ?SEARCH[ \t]*\n(?P<find>.*?)^={5,9}[ \t]*\n(?P<put>.*?)^>{5,9} ?REPLACE[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_FENCE = re.compile(r"\s*(?:```\w*\s*)?")
_NAME = re.compile(
    r"[`*# ]*(?:file(?:name)?:)?[`*: ]*(?P<file>[\w./-]*[./][\w/-][\w./-]*?|[^`*:]+/[^`*:/]+\.\w+)[`*: ]*",
    re.IGNORECASE,
)
"""A line that names a file, such as ``**File:** `prompts/plain/system.j2```. One with spaces has a folder."""


class RefusedBlock(NamedTuple):
    """A block that cannot be applied."""

    file: str
    why: str


def from_causes(
    causes: Iterable[Cause], files: AgentFiles, resources: AgentResources
) -> tuple[Candidate, ...]:
    """Return what the patches of causes come to, the likeliest first; those that do not fit the files are left out."""
    candidates: dict[tuple[str, str], Candidate] = {}
    for cause in causes:
        patch = cause.patch
        if patch is None:
            continue
        texts, refused = applied([(patch.file, patch.find, patch.put)], files, resources)
        if refused or not texts:
            continue
        what = f"{cause.place}: {cause.what}"
        candidate = change_of(texts, files, what=what, origin="cause", kind=cause.kind, step=cause.step)
        candidates.setdefault((patch.file, texts[patch.file]), candidate)
    return tuple(candidates.values())


def together(causes: Iterable[Cause], files: AgentFiles, resources: AgentResources) -> tuple[Candidate, ...]:
    """Return the change that makes all changes of causes at once, where each alone may mend nothing.

    Of causes with the same place, the first one's is taken. There is none where fewer than two fit the files together.
    """
    blocks: dict[tuple[str, int], tuple[str, str, str]] = {}
    for cause in causes:
        if cause.patch is not None:
            blocks.setdefault((cause.file, cause.line), (cause.patch.file, cause.patch.find, cause.patch.put))
    texts, refused = applied([*blocks.values()], files, resources)
    if len(blocks) < 2 or refused:
        return ()
    places = " and ".join(f"{file}:{line}" for file, line in blocks)
    return (change_of(texts, files, what=f"The changes of {places} together.", origin="cause"),)


def blocks_of(text: str) -> list[tuple[str, str, str]]:
    """Return the search-and-replace blocks of a text: file, what is to be there once, and what replaces it.

    A block without the name of a file is of that of the one before. Raises UsageError for a block that is not whole.
    """
    text = text.replace("\r\n", "\n")
    blocks: list[tuple[str, str, str]] = []
    name, end = "", 0
    starts = [match.start() for match in _BEGIN.finditer(text)]
    for number, (start, stop) in enumerate(pairwise([*starts, len(text)]), 1):
        said = [line.strip() for line in text[end:start].splitlines() if not _FENCE.fullmatch(line)]
        named = _NAME.fullmatch(said[-1]) if said else None
        name = named["file"] if named is not None else name
        block = _BLOCK.match(text, start, stop)
        if block is None:
            raise UsageError(
                f"Block {number} is not whole: it is <<<<<<< SEARCH, what is there, =======, what replaces it, and "
                ">>>>>>> REPLACE, each mark in a line of its own."
            )
        if not name:
            raise UsageError(f"Block {number} is of no file: the line before it has to be the file's name.")
        blocks.append((name, block["find"], block["put"]))
        end = block.end()
    return blocks


def applied(
    blocks: Sequence[tuple[str, str, str]],
    files: AgentFiles,
    resources: AgentResources,
    only: Collection[str] | None = None,
) -> tuple[dict[str, str], list[RefusedBlock]]:
    """Return the whole texts of files after these blocks, and why others were refused; nothing is written.

    A block has to be of a file of the agent, or of `only` these, what it searches has to be there once, and the files
    have to stay valid together.
    """
    names = files.names() if only is None else only
    texts: dict[str, str] = {}
    refused: list[RefusedBlock] = []
    for name, find, put in blocks:
        if name not in names:  # Others, such as the settings, are not even read.
            refused.append(RefusedBlock(name, f"This is no file that can be changed; {near(name, names)}"))
            continue
        text = texts[name] if name in texts else files.read(name)
        # The last line may have no end; those of blocks do.
        added = "" if text.endswith("\n") else "\r\n" if "\r\n" in text else "\n"
        text += added
        if "\r\n" in text and text.count(find) != 1:
            find, put = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (find, put))
        count = text.count(find) if find else 0
        if count == 1:
            texts[name] = text.replace(find, put).removesuffix(added)
        elif not find:
            refused.append(RefusedBlock(name, "The block searches for nothing."))
        else:
            how = f"occurs {count} times" if count else _nearest_line(find, text)
            refused.append(RefusedBlock(name, f"The searched text {how}; it has to be there exactly once."))
    refused += [
        RefusedBlock(name, "The block changes nothing.")
        for name, text in texts.items()
        if text == files.read(name)
    ]
    try:
        with files.with_drafts(texts, resources):
            pass
    except BackstepError as error:
        refused.append(RefusedBlock(", ".join(texts), str(error)))
    return texts, refused


def _nearest_line(find: str, text: str) -> str:
    """Return that a text is not there, with the line that is most like its first."""
    first = next((line for line in find.splitlines() if line.strip()), "")
    if first in text:
        return "is not there, although its first line is"
    close = get_close_matches(first, text.splitlines(), n=1)
    return f"is not there (the nearest line is {close[0].strip()!r})" if close else "is not there"


def change_of(texts: Mapping[str, str], files: AgentFiles, **more: Any) -> Candidate:
    """Return the candidate that gives files these texts."""
    names = files.names()
    base = {name: files.read(name) for name in texts if name in names}
    return Candidate(files=dict(texts), base=base, rest=files.digest(texts), **more)


def from_files(
    texts: Mapping[str, str], files: AgentFiles, resources: AgentResources, what: str
) -> Candidate:
    """Return the change that whole files make; raises UsageError and DataError for one that is wrong or no change."""
    with files.with_drafts(texts, resources):
        pass
    names = files.names()
    changed = {name: text for name, text in texts.items() if name not in names or files.read(name) != text}
    if not changed:
        raise UsageError("These files are the same as those in use, so there is nothing to prove.")
    return change_of(changed, files, what=what)


def from_blocks(
    text: str,
    files: AgentFiles,
    resources: AgentResources,
    only: Collection[str] | None = None,
    **more: Any,
) -> Candidate:
    """Return the change that search-and-replace blocks make; raises UsageError with all that is wrong in them.

    `only` is as in `applied`, and `more` of the candidate.
    """
    texts, refused = applied(blocks_of(text), files, resources, only)
    if refused:
        raise UsageError("\n".join(f"{each.file}: {each.why}" for each in refused))
    if not texts:
        raise UsageError(
            "There is no block in these edits. A block is the name of a file in a line of its own, <<<<<<< SEARCH, the "
            "text that is there once, =======, the text that replaces it, and >>>>>>> REPLACE."
        )
    return change_of(texts, files, **{"what": f"edits of {', '.join(texts)}", **more})


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
    alike = []
    for each in like[:_MOST_ALIKE]:
        try:
            first = next(iter(causes_of(store, each.run, resources, files)), None)
        except BackstepError:
            continue  # It is damaged.
        if first is not None and (first.file, first.line) == (own.file, own.line):
            alike.append(each.run)
    return tuple(alike)


def keep(candidate: Candidate, files: AgentFiles) -> tuple[str, ...]:
    """Write the files of a candidate to the user's own, all or none, and return their paths.

    Raises UsageError if one was changed since the candidate was made, and DataError.
    """
    names = files.names()
    for name in candidate.files:
        if name not in names and name.partition("/")[0] not in OWN_FOLDERS:
            raise UsageError(f"{name} is no file of an agent, so it is not written.")
        if (files.read(name) if name in names else None) not in (
            candidate.base.get(name),
            candidate.files[name],
        ):
            raise UsageError(
                f"{name} was changed since this was proved, so it is not written. Prove it again."
            )
    before = {name: files.own_text(name) for name in candidate.files}
    written: list[str] = []
    try:
        for name, text in candidate.files.items():
            files.write(name, text)
            written.append(name)
    except DataError:
        for name in written:
            own = before[name]
            if own is None:
                files.delete(name)
            else:
                files.write(name, own)
        raise
    return tuple(str(files.target(name)) for name in written)
