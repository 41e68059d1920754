"""Tasks that take several looks: what is wanted has to be found first."""

import re

from core.debugger.exemplars.scripted import Look, Script
from core.schema.observation import Element, Observation
from tests.core.exemplars.solvers.page import all_of, between, click, place, quoted, the, write


def click_tab_2(instruction: str, page: Observation) -> Script:
    (name,) = quoted(instruction)
    count = len(all_of(page, "tab"))
    for number in range(1, count + 1):
        if links := all_of(page, "generic", name):
            yield Look(
                thought=f'The open tab has the link "{name}".',
                actions=(click(links[0]),),
                needs=(the(page, "tabpanel").ref,),
            )
            return
        tabs = all_of(page, "tab")
        page = yield Look(
            thought=f'No link of tab {number} is "{name}"; look into tab {number + 1}.',
            actions=(click(tabs[number]),),
            needs=tuple(one.ref for one in _links(page)),
        )


def click_collapsible_2(instruction: str, page: Observation) -> Script:
    (name,) = quoted(instruction)
    thought = "All sections are closed; open the first one to see its links."
    for number in range(len(all_of(page, "tab"))):
        page = yield Look(
            thought=thought,
            actions=(click(all_of(page, "tab")[number]),),
            needs=tuple(one.ref for one in _links(page)),
        )
        if links := all_of(page, "generic", name):
            yield Look(thought=f'There is the link "{name}".', actions=(click(links[-1]),))
            return
        thought = f'Section {number + 1} has no link "{name}"; open the next one.'


def _links(page: Observation) -> list[Element]:
    """Return the links of a panel, which the page draws as plain words."""
    return [
        one
        for one in all_of(page, "generic")
        if one.name and not one.name.startswith(("Tab #", "Section #")) and not one.detail
    ]


def navigate_tree(instruction: str, page: Observation) -> Script:
    (name,) = quoted(instruction)
    opened: set[int] = set()
    while True:
        entry = next((one for one in all_of(page, "generic") if one.name == name), None)
        entry = entry or next((one for one in all_of(page, "listitem") if one.name == name), None)
        if entry is not None:
            yield Look(thought=f"{name} is in view; click its name.", actions=(click(entry),))
            return
        closed = [
            one
            for one in all_of(page, "generic")
            if "expandable-hitarea" in one.detail and one.ref not in opened
        ]
        folder = closed[0]
        opened.add(folder.ref)
        title = page.elements[page.elements.index(folder) + 1]
        page = yield Look(
            thought=f"{name} is not in view, so it must lie in a folder; open {title.name}.",
            actions=(click(folder),),
            needs=tuple(one.ref for one in all_of(page, "listitem")),
        )


def search_engine(instruction: str, page: Observation) -> Script:
    query, _ = quoted(instruction)
    position = between(instruction, "click the ", " search result")
    page = yield Look(
        thought="The results have to be asked for first.",
        actions=(write(the(page, "textbox"), query), click(the(page, "button", "Search"))),
    )
    seen = 0
    while True:
        results = [one for one in all_of(page, "link") if not re.fullmatch(r"\d+|[<>]", one.name)]
        if seen + len(results) >= place(position):
            found = results[place(position) - seen - 1]
            yield Look(
                thought=f"This page shows the results from {seen + 1} on, so {found.name} is the {position}.",
                actions=(click(found),),
                needs=tuple(one.ref for one in results),
            )
            return
        seen += len(results)
        page = yield Look(
            thought=f"These are the results up to {seen}, and the {position} is wanted; go to the next page.",
            actions=(click(the(page, "link", ">")),),
            needs=tuple(one.ref for one in results),
        )


def terminal(instruction: str, page: Observation) -> Script:
    field, screen = the(page, "textbox"), the(page, "generic")
    wanted = instruction.rsplit(".", 1)[1].strip() if "ending with" in instruction else ""
    page = yield Look(
        thought="What files there are is not known yet; ls lists them.",
        actions=(write(field, "ls", enter=True),),
        needs=(screen.ref,),
    )
    files = between(the(page, "generic").name, "ls ", " user$").split()
    file = next(one for one in files if one.partition(".")[2] == wanted)
    which = f"ends with .{wanted}" if wanted else "has no extension"
    yield Look(
        thought=f"{file} {which}; rm deletes it.",
        actions=(write(field, f"rm {file}", enter=True),),
        needs=(the(page, "generic").ref,),
    )
