"""Drafts a state-space file from recorded pages: groups similar pages into states, for a person to edit.

Pages are compared by their structure: elements of only one page (such as the items of a list) or of most pages
(a menu) weigh little, all digits count as equal, and addresses are compared without ids. Names with data in them, such
as counts, do not become part of the draft.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import tomlkit

from core.agent.spaces.file import PLACEHOLDER
from core.schema.action import ACTIONS, Action, RefTarget, escape_brackets
from core.schema.observation import Element, Observation
from core.schema.record import Record

ALIKE = 0.5
"""Share of common features from which pages are one state whatever their address."""
ALIKE_AT_ONE_ADDRESS = 0.3
LITTLE = 0.15
"""What a feature weighs that tells little: of one page alone, or of most pages and addresses."""
MOST = 0.6
"""Share of the addresses from which a feature is a menu or tool bar."""
SLUGS = 3
"""So many different last parts of an address, of pages with the same controls, name things and not kinds of pages."""
MUST = 3
"""Elements proposed for `must` at most."""
NAMED_ROLES = (
    "heading",
    "button",
    "link",
    "searchbox",
    "textbox",
    "tab",
    "list",
    "form",
    "navigation",
    "table",
)
_SELECTED = 60
_GIVEN = {"type": "text", "select": "option"}
"""What actions take besides a target that becomes an argument."""


class DraftPage(Record):
    """One recorded step: its observation and its action."""

    observation: Observation
    action: Action | None = None


@dataclass
class DraftState:
    """Pages that look like one state."""

    name: str
    pages: list[int]
    address: str
    features: set[str]
    must: list[str] = field(default_factory=list)
    must_not: list[str] = field(default_factory=list)
    url: str = ""
    unclear: list[str] = field(default_factory=list)
    """Other states whose pages fit as well."""


def group_pages(pages: Sequence[DraftPage]) -> list[DraftState]:
    """Return the states that the pages fall into, in the order in which they were met."""
    features = [_features(page.observation) for page in pages]
    addresses = _addresses(pages, features)
    weights = _weights(features, addresses)
    states: list[DraftState] = []
    for number, page in enumerate(pages):
        address = addresses[number]
        likeness = [_likeness(state, features[number], address, weights) for state in states]
        if likeness and max(likeness) >= 1.0:
            home = states[likeness.index(max(likeness))]
            home.pages.append(number)
            home.features &= features[number]
            continue
        name = _state_name(page.observation, address, [state.name for state in states])
        states.append(DraftState(name, [number], address, set(features[number])))
    _tell_apart(states, pages, addresses)
    return states


def draft_space(pages: Sequence[DraftPage], *, title: str, environment: str = "") -> str:
    """Return a state-space file that can be read, with remarks on what to look at.

    `pages` in the order in which they were seen; raises ValueError without any.
    """
    if not pages:
        raise ValueError("There are no recorded pages to draft a state space from.")
    states = group_pages(pages)
    home = {page: state for state in states for page in state.pages}
    lines = [
        f"# Drafted from {len(pages)} recorded pages. Check it: rename the states, write in",
        "# instruction what an agent should look for, and remove page_actions where the actions below are enough.",
        f"title = {_text(title)}",
    ]
    if environment:
        lines.append(f"environments = [{_text(environment)}]")
    for state in states:
        lines += ["", "[[state]]", f"name = {_text(state.name)}"]
        seen = len(state.pages)
        first = _one_line(pages[state.pages[0]].observation.url)
        lines.append(f"# Seen {'once' if seen == 1 else f'{seen} times'}, first at {first}")
        if state.unclear:
            lines.append(f"# Pages of {', '.join(state.unclear)} fit as well: add what tells them apart.")
        if state.url:
            lines.append(f"url = {_text(state.url)}")
        if state.must:
            lines.append(f"must = [{', '.join(_text(one) for one in state.must)}]")
        if state.must_not:
            lines.append(f"must_not = [{', '.join(_text(one) for one in state.must_not)}]")
        lines += ['instruction = ""', "page_actions = true"]
        lines += _actions(state, pages, home)
    return "\n".join(lines) + "\n"


def _weights(found: Sequence[set[str]], addresses: Sequence[str]) -> dict[str, float]:
    """Return how much each feature tells: little where only one page has it, or all of several, or most addresses."""
    distinct = {frozenset(features) for features in found}
    pages = Counter(one for features in distinct for one in features)
    kinds: dict[str, set[str]] = {}
    for features, address in zip(found, addresses, strict=True):
        for feature in features:
            kinds.setdefault(feature, set()).add(address)
    many = max(len(set(addresses)) * MOST, 2)
    return {
        one: 1.0 if 1 < count < len(distinct) and len(kinds[one]) < many else LITTLE
        for one, count in pages.items()
    }


def _features(observation: Observation) -> set[str]:
    return {
        f'{element.role} "{name}"' if name else element.role
        for element in observation.elements
        if element.role in NAMED_ROLES or element.usable
        for name in [re.sub(r"\d+", "#", " ".join(element.name.split()))[:_SELECTED]]
    }


def _likeness(state: DraftState, features: set[str], address: str, weights: dict[str, float]) -> float:
    """Return how far a page is like a state; from 1 on it belongs to it."""
    whole = sum(weights[one] for one in state.features | features)
    share = sum(weights[one] for one in state.features & features) / whole if whole else 1.0
    return share / (ALIKE_AT_ONE_ADDRESS if state.address == address else ALIKE)


def _addresses(pages: Sequence[DraftPage], features: Sequence[set[str]]) -> list[str]:
    """Return the addresses of the pages, with ``*`` for last parts that only name one thing of many."""
    found = [_address(page.observation.url) for page in pages]
    beside: dict[str, dict[str, set[str]]] = {}
    for address, features_here in zip(found, features, strict=True):
        folder, _, last = address.rpartition("/")
        if folder:
            leaves = beside.setdefault(folder, {})
            leaves[last] = leaves.get(last, features_here) & features_here
    for folder, leaves in beside.items():
        common = set.intersection(*leaves.values())
        alike = all(len(common) >= ALIKE * len(one) for one in leaves.values())
        if len(leaves) >= SLUGS and alike:
            found = [f"{folder}/*" if one.rpartition("/")[0] == folder else one for one in found]
    return found


def _address(url: str) -> str:
    parts = urlsplit(url)
    steps = [step for step in parts.path.split("/") if step]
    if parts.fragment.startswith(("/", "!/")):
        steps += ["#", *(step for step in parts.fragment.lstrip("!").split("/") if step)]
    return "/".join(_fixed(step) for step in steps)


def _fixed(step: str) -> str:
    """Return a part of an address as it is, or ``*`` where it names one thing of many."""
    return "*" if re.search(r"\d", step) or len(step) > 30 else step


def _state_name(observation: Observation, address: str, taken: list[str]) -> str:
    steps = [step for step in address.split("/") if step not in ("", "*", "#")]
    heading = next(
        (element.name for element in observation.elements if element.role == "heading" and element.name), ""
    )
    words = steps[-1].rsplit(".", 1)[0] if steps else heading or observation.title or "page"
    slug = re.sub(r"\W+", "_", words.lower(), flags=re.ASCII).strip("_")[:40]
    slug = slug if slug and slug[0].isalpha() else f"page_{slug}".rstrip("_")
    name, number = slug, 2
    while name in taken:
        name, number = f"{slug}_{number}", number + 1
    return name


def _tell_apart(states: list[DraftState], pages: Sequence[DraftPage], addresses: Sequence[str]) -> None:
    exact = [_exact(page.observation) for page in pages]
    shared = {id(state): set.intersection(*(exact[number] for number in state.pages)) for state in states}
    for state in states:
        others = {number: other for other in states if other is not state for number in other.pages}
        state.url = _url_pattern({addresses[number] for number in state.pages})
        left = {n for n in others if not state.url or re.search(state.url, pages[n].observation.url)}
        common = shared[id(state)]
        while len(state.must) < MUST and (left or not (state.must or state.url)):
            best = max(
                sorted(common - set(state.must), key=_rank),
                key=lambda one: sum(one not in exact[number] for number in left),
                default=None,
            )
            if best is None or (left and all(best in exact[number] for number in left)):
                break
            state.must.append(best)
            left = {number for number in left if best in exact[number]}
        mine = set.union(*(exact[number] for number in state.pages))
        while left and len(state.must_not) < MUST:
            # What not all pages of the other state have is data that one of them shows.
            candidates = {one for number in left for one in shared[id(others[number])]} - mine
            best = max(
                sorted(candidates, key=_rank),
                key=lambda candidate: sum(candidate in exact[number] for number in left),
                default=None,
            )
            if best is None:
                break
            state.must_not.append(best)
            left = {number for number in left if best not in exact[number]}
        if not (state.url or state.must):
            state.url = re.escape(urlsplit(pages[state.pages[0]].observation.url).path or "/")
        state.unclear = list(dict.fromkeys(others[number].name for number in sorted(left)))


def _exact(observation: Observation) -> set[str]:
    """Return the patterns of the page's named elements whose names hold no digits."""
    return {
        f"{element.role} {json.dumps(name, ensure_ascii=False)}"
        for element in observation.elements
        if element.role in NAMED_ROLES
        for name in [" ".join(element.name.split())]
        if name and len(name) <= _SELECTED and not re.search(r'[\d"\\]', name)
    }


def _rank(pattern: str) -> tuple[int, int, str]:
    """Order patterns by how telling their roles are, then short ones first."""
    return NAMED_ROLES.index(pattern.split(" ", 1)[0]), len(pattern), pattern


def _url_pattern(addresses: set[str]) -> str:
    if len(addresses) != 1:
        return ""
    steps = addresses.pop().split("/")
    if steps == [""]:
        return ""
    written = "/".join("[^/]+" if step == "*" else re.escape(step) for step in steps)
    return f"/{written}".replace("/\\#/", "#!?/?").replace("/#/", "#!?/?") + "/?([?#]|$)"


def _actions(state: DraftState, pages: Sequence[DraftPage], home: dict[int, DraftState]) -> list[str]:
    """Return the tables of what was done in the state's pages, one for each kind of thing acted on."""
    done: dict[tuple[str, str], dict[str, set[str]]] = {}
    for number in state.pages:
        action = pages[number].action
        element = _acted_on(pages[number])
        if action is None or element is None or not element.name or PLACEHOLDER.search(element.name):
            continue
        if not set(ACTIONS[action.kind].fields) <= {"target", _GIVEN.get(action.kind, "target")}:
            continue  # What else it needs is not known.
        if _holds_data(element, [pages[page].observation for page in state.pages]):
            continue
        names = done.setdefault((action.kind, element.role), {})
        leads = names.setdefault(" ".join(element.name.split()), set())
        if number + 1 in home:
            leads.add(home[number + 1].name)
    lines: list[str] = []
    taken: list[str] = []
    for (kind, role), names in done.items():
        many = len(names) > 3
        for name, leads in [("", set().union(*names.values()))] if many else list(names.items()):
            lines += _action(kind, role, name, sorted(leads), taken)
    return lines


def _action(kind: str, role: str, name: str, leads: list[str], taken: list[str]) -> list[str]:
    slug = re.sub(r"\W+", "_", f"{kind}_{name or role}".lower(), flags=re.ASCII).strip("_")[:48]
    if slug in ACTIONS:
        slug = f"{kind}_{role}"
    unique, number = slug, 2
    while unique in taken:
        unique, number = f"{slug}_{number}", number + 1
    taken.append(unique)
    target = f'{role} "{{which}}"' if not name else f"{role} {json.dumps(name, ensure_ascii=False)}"
    given = _GIVEN.get(kind, "")
    step = f"{kind} [{escape_brackets(target)}]" + (f" [{{{given}}}]" if given else "")
    what = f"{kind.replace('_', ' ').capitalize()} {name or f'a {role} of the page'}."
    lines = ["", "[[state.action]]", f"name = {_text(unique)}", f"description = {_text(what)}"]
    lines.append(f"does = [{_text(step)}]")
    if leads:
        lines.append(f"leads_to = [{', '.join(_text(one) for one in leads)}]")
    if not name:
        lines += [
            "",
            "[[state.action.parameter]]",
            'name = "which"',
            f"from_page = {{ element = {_text(role)} }}",
        ]
    if given:
        lines += ["", "[[state.action.parameter]]", f"name = {_text(given)}"]
    return lines


def _holds_data(element: Element, pages: Sequence[Observation]) -> bool:
    """Return whether a name is the same control's with other data on another page, such as ``3 pages in demo``."""
    if re.search(r"\d", element.name):
        return True
    words = set(re.findall(r"[^\W\d]+", element.name.lower()))
    for page in pages:
        same_role = [one.name for one in page.elements if one.role == element.role]
        if element.name in same_role:
            continue
        for name in same_role:
            others = set(re.findall(r"[^\W\d]+", name.lower()))
            if len(words & others) > 1 and len(words & others) >= ALIKE * min(len(words), len(others)):
                return True
    return False


def _acted_on(page: DraftPage) -> Element | None:
    targets: Iterable[object] = page.action.targets if page.action is not None else ()
    first = next(iter(targets), None)
    return page.observation.element(first.ref) if isinstance(first, RefTarget) else None


def _text(text: str) -> str:
    """Return `text` as a string of TOML."""
    return tomlkit.string(text).as_string()


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
