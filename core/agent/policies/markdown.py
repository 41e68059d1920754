"""The sections of a policy file, by Markdown headings; each knows the line of the file it stands in."""

import re

from core.schema.record import Record

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")


class PolicySection(Record):
    """A heading with the text below it, up to the next heading that was asked for."""

    level: int
    title: str
    line: int
    """The heading's line in the file, from 1."""
    text: str = ""
    """Without blank lines around it; a code fence around all of it is taken off."""
    text_line: int = 0
    """The line its text begins in."""
    parts: tuple["PolicySection", ...] = ()

    def part(self, title: str) -> "PolicySection | None":
        """Return the part of that title, whatever its capitals."""
        wanted = title.casefold()
        return next((part for part in self.parts if part.title.casefold() == wanted), None)


def sections(
    body: str, first_line: int, level: int = 1, deepest: int = 3
) -> tuple[str, tuple[PolicySection, ...]]:
    """Return the text before the first heading of `level`, and the sections.

    Sections hold the headings of the next levels as parts, down to
    `deepest`; what is deeper is text, as is everything in a code fence. A
    section's text is all that stands in it, headings of its parts included.
    """
    lines = body.split("\n")
    found: list[tuple[int, str]] = []
    fence = ""
    for index, line in enumerate(lines):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
                fence = ""
        elif mark:
            fence = mark[1]
        elif (heading := _HEADING.fullmatch(line)) and len(heading[1]) == level:
            found.append((index, heading[2]))
    before = "\n".join(lines[: found[0][0]] if found else lines).strip()
    ends = [*(index for index, _ in found[1:]), len(lines)]
    made: list[PolicySection] = []
    for (index, title), end in zip(found, ends, strict=False):
        content = lines[index + 1 : end]
        text, offset = _trimmed(content)
        parts: tuple[PolicySection, ...] = ()
        if level < deepest:
            _, parts = sections("\n".join(content), first_line + index + 1, level + 1, deepest)
        made.append(
            PolicySection(
                level=level,
                title=title,
                line=first_line + index,
                text=text,
                text_line=first_line + index + 1 + offset,
                parts=parts,
            )
        )
    return before, tuple(made)


def _trimmed(lines: list[str]) -> tuple[str, int]:
    """Return the text without blank lines and fence around it, and how many lines were before it."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if end - start >= 2:
        first, last = _FENCE.fullmatch(lines[start]), lines[end - 1].strip()
        inside = lines[start + 1 : end - 1]
        if first and last == first[1] and not any(line.strip().startswith(first[1]) for line in inside):
            return "\n".join(inside), start + 1
    return "\n".join(lines[start:end]), start
