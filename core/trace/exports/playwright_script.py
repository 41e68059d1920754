"""A run as a Python script that repeats its page actions with Playwright and needs nothing of Backstep.

The first part converts one action, on the page that the script calls ``page``; the second part makes the
whole script. Its template is resources/export/replay.py.jinja.
"""

import json
import re
import textwrap
from urllib.parse import urlsplit

from core.schema import action as kinds
from core.schema.action import Action, Target, chord, clicked, fractions
from core.schema.element_identity import called
from core.schema.observation import Element, Observation, is_hidden
from core.schema.record import Record
from core.schema.secrets import named, names_in, placeholders_in, variable_of
from core.schema.step import Acted, Primitive
from core.schema.viewport import VIEWPORT
from core.trace.exports.hiding import hiding
from core.trace.exports.steps import RunStep, steps_of, templates
from core.trace.records import RunRow
from core.trace.store import TraceStore

ROLES = frozenset(
    "button cell checkbox columnheader combobox gridcell heading img link listbox menuitem menuitemcheckbox"
    " menuitemradio option progressbar radio row rowheader scrollbar searchbox slider spinbutton switch tab"
    " textbox tooltip treeitem".split()
)
"""Roles whose name Playwright tells as we do; elements of others are found by their XPath, or by their words."""

_SIDES = {"up": (0, -0.8), "down": (0, 0.8), "left": (-0.8, 0), "right": (0.8, 0)}
"""How far an action scrolls, across and down, as a part of what is shown."""


class NotExpressibleError(Exception):
    """Why an action cannot be expressed; the text completes a sentence that begins with ``it``."""


def literal(text: str) -> str:
    """Return the text as a string literal in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def lines_of(
    action: Action,
    seen: Observation | None,
    xpath: str,
    start_url: str,
    frames: tuple[int, ...] = (),
    label: str = "",
) -> list[str]:
    """Return the lines that repeat the action; raises NotExpressibleError.

    `seen` is the page that its refs belong to, `xpath` that of its first
    element as it was found, `start_url` where the run began: addresses there
    are named by their paths, because it may be served elsewhere now. `frames`
    is as in `Acted`; `label` names the element of an action that has only words.
    """
    scope = "page.main_frame" + "".join(f".child_frames[{frame}]" for frame in frames) if frames else "page"

    def on(target: Target, path: str = xpath) -> str:
        return _locator(target, seen, path, start_url, scope)

    match action:
        case kinds.Click():
            return _at(on(action.target), "click", action.at, _held(action.keys))
        case kinds.DoubleClick():
            return _at(on(action.target), "dblclick", action.at)
        case kinds.RightClick():
            return _at(on(action.target), "click", action.at, 'button="right"')
        case kinds.ClickAt():
            return [f"page.mouse.click({action.x}, {action.y})"]
        case kinds.Hover():
            return _at(on(action.target), "hover", action.at)
        case kinds.Type():
            append = ", append=True" if action.append else ""
            lines = [f"type_into({on(action.target)}, {_with_secrets(action.text)}{append})"]
            return [*lines, 'page.keyboard.press("Enter")'] if action.enter else lines
        case kinds.Press():
            return [f"page.keyboard.press({literal(chord(action.keys))})"]
        case kinds.Scroll():
            what = on(action.target) if action.target is not None else f'{scope}.locator("html")'
            across, down = _SIDES[action.direction]
            turns = "" if action.target is None else ", wheel=True"
            return [f"scroll({what}, across={across}, down={down}{turns})"]
        case kinds.Select() if placeholders_in(action.option):
            return [f"{on(action.target)}.select_option({_with_secrets(action.option)})"]
        case kinds.Select():
            return [f"{on(action.target)}.select_option({_options(action, seen)})"]
        case kinds.Check():
            return [f"{on(action.target)}.set_checked({action.checked})"]
        case kinds.Drag():
            places = {"start": fractions(action.from_at), "end": fractions(action.to_at)}
            given = "".join(f", {name}={place}" for name, place in places.items() if place)
            return [f"drag({on(action.target)}, {on(action.to, '')}{given})"]
        case kinds.SelectText():
            nth = f", nth={action.nth}" if action.nth else ""
            return [f"select_text({on(action.target)}, {literal(action.text)}{nth})"]
        case kinds.Upload():
            paths = [literal(path) for path in action.paths]
            files = paths[0] if len(paths) == 1 else f"[{', '.join(paths)}]"
            return [f"{on(action.target)}.set_input_files({files})"]
        case kinds.Goto():
            return [f"page.goto({address(action.url, start_url)})"]
        case kinds.GoBack():
            return ["page.go_back()"]
        case kinds.GoForward():
            return ["page.go_forward()"]
        case kinds.NewTab():
            return ["page = context.new_page()"]
        case kinds.TabFocus():
            return [f"page = context.pages[{action.index}]", "page.bring_to_front()"]
        case kinds.CloseTab():
            return ["page.close()", "page = context.pages[-1]"]
        case kinds.AnswerDialog():
            given = _with_secrets(action.text or "") if action.answer == "accept" else "None"
            return [f"answers.append({given})"]
        case kinds.Wait():
            return [f"page.wait_for_timeout({action.seconds * 1000:.0f})"]
        case kinds.AgentAct() if (click := clicked(action.words)) is not None:
            button, clicks, keys = click
            how = (f"button={literal(button)}", f"click_count={clicks}" * (clicks > 1), _held(keys))
            element = _labelled(label, seen, xpath, start_url)
            return [f"{element}.click({', '.join(filter(None, how))})"]
    raise NotExpressibleError(f"{action.name} is not an action of Playwright")


def _with_secrets(text: str) -> str:
    """Return a text as Python, in which secrets are read from the environment; raises NotExpressibleError."""
    if is_hidden(text) or set(placeholders_in(text)) - set(map(named, names_in(text))):
        raise NotExpressibleError("the text is hidden and was not recorded")
    parts = re.split(r"<secret:([A-Za-z0-9_.-]+)>", text)
    code = [
        f"os.environ[{literal(variable_of(one))}]" if at % 2 else literal(one) for at, one in enumerate(parts)
    ]
    return " + ".join(one for one in code if one != '""') or '""'


def _held(keys: str) -> str:
    held = ", ".join(literal(key) for key in keys.split("+") if key)
    return f"modifiers=[{held}]" if held else ""


def _at(locator: str, call: str, at: str, given: str = "") -> list[str]:
    """Return a call of the mouse at a place of an element, or where Playwright chooses."""
    place = fractions(at)
    if place is None:
        return [f"{locator}.{call}({given})"]
    position = f"position=at(element, {place[0]:g}, {place[1]:g})"
    return [f"element = {locator}", f"element.{call}({', '.join(filter(None, (given, position)))})"]


def address(url: str, start_url: str) -> str:
    """Return the URL as an expression: from the script's start address where it lies on the same site."""
    try:
        parts, start = urlsplit(url), urlsplit(start_url)
    except ValueError:
        return literal(url)  # An address that is none, such as a page may link to, is repeated as it is.
    if start.scheme in ("http", "https") and (parts.scheme, parts.netloc) == (start.scheme, start.netloc):
        return f"urljoin(start, {literal(parts._replace(scheme='', netloc='').geturl() or '/')})"
    return literal(url)


def _locator(target: Target, seen: Observation | None, xpath: str, start_url: str, scope: str) -> str:
    match target:
        case kinds.FocusTarget():
            return 'page.locator(":focus")'
        case kinds.XPathTarget():
            *around, inner = target.xpath.split(kinds.IN_FRAME)
            for frame in around:
                scope = f"{_by_xpath(frame, scope if frame != around[0] else 'page')}.content_frame"
            return _by_xpath(inner, scope)
        case kinds.RoleTarget():
            if target.role not in ROLES:
                return _by_xpath(xpath, scope)
            return _either(f"{scope}.{_by_role(target.role, target.name)}", xpath, scope)
        case kinds.RefTarget():
            element = seen.element(target.ref) if seen is not None else None
            if seen is None or element is None:
                return _by_xpath(xpath, scope)
            return _of_element(element, seen, xpath, start_url)


def _of_element(element: Element, seen: Observation, xpath: str, start_url: str) -> str:
    scope = _scope(element, seen, start_url)
    if not element.name or (xpath and element.role not in ROLES):
        return _by_xpath(xpath, scope)
    alike = [
        one.ref
        for one in seen.elements
        if (one.role, one.name, one.frame) == (element.role, element.name, element.frame)
    ]
    named = f"{scope}.get_by_text({literal(element.name)}, exact=True)"
    if element.role in ROLES:
        named = f"{scope}.{_by_role(element.role, element.name)}"
    if len(alike) > 1:
        named += f".nth({alike.index(element.ref)})"
    return _either(named, xpath, scope)


def _labelled(label: str, seen: Observation | None, xpath: str, start_url: str) -> str:
    alike = [element for element in seen.elements if called(element) == label] if seen is not None else []
    if seen is None or len(alike) != 1:
        return _by_xpath(xpath)
    return _of_element(alike[0], seen, xpath, start_url)


def _either(named: str, xpath: str, scope: str = "page") -> str:
    return f"one({named}, {_by_xpath(xpath, scope)})" if xpath else named


def _by_role(role: str, name: str) -> str:
    return f"get_by_role({literal(role)}, name={literal(name)}, exact=True)"


def _by_xpath(xpath: str, scope: str = "page") -> str:
    if not xpath:
        raise NotExpressibleError("its element was recorded neither by role and name nor by an XPath")
    return f"{scope}.locator({literal(f'xpath={xpath}')})"


def _scope(element: Element, seen: Observation, start_url: str) -> str:
    """Return the page, or the frame in it that the element lies in."""
    if element.frame == 0 or element.frame >= len(seen.frames):
        return "page"
    frame = seen.frames[element.frame]
    by = f"name={literal(frame.name)}" if frame.name else f"url={address(frame.url, start_url)}"
    return f"frame(page, {by})"


def _options(action: kinds.Select, seen: Observation | None) -> str:
    """Return what to choose: the option's label as the page had it, and what was chosen where several may be."""
    target = action.target
    element = seen.element(target.ref) if seen is not None and isinstance(target, kinds.RefTarget) else None
    if element is None or not element.options:
        if not action.selected:
            raise NotExpressibleError("the other selected options were not recorded")
        return literal(action.option)
    wanted = " ".join(action.option.split())
    named = [option.label for option in element.options if option.label == wanted]
    named += [option.label for option in element.options if option.value == action.option]
    named += [option.label for option in element.options if option.label.lower() == wanted.lower()]
    label = named[0] if named else action.option
    if not action.selected:
        kept = [option.label for option in element.options if option.selected and option.label != label]
        return f"label=[{', '.join(literal(one) for one in kept)}]"
    if element.role == "listbox":
        chosen = [option.label for option in element.options if option.selected and option.label != label]
        if chosen:
            return f"label=[{', '.join(literal(one) for one in (*chosen, label))}]"
    return f"label={literal(label)}"


HELPERS = ("frame", "one", "type_into", "at", "scroll", "drag", "select_text", "warn")
"""Functions of the template that are written only where a line calls them."""
_WIDEST = 100
_SERVED = {
    "miniwob": "The start page is served on a loopback address only while Backstep has a MiniWoB++ task open,"
    " and Backstep sets its seed and starts it; no command does this alone. Serve this page of the "
    "miniwob package yourself, start it with the same seed, and give its address with --url.",
    "shop": "The shop is served on a loopback address only while Backstep has one of its tasks open; no "
    "command serves it alone. Open a task, and give the address of its start page with --url.",
    "airline": "The airline desk is served on a loopback address only while Backstep has one of its tasks "
    "open; no command serves it alone. Open a task, and give the address of its start page with "
    "--url. The script gets a new desk there, not the one of this scenario.",
}
"""How to come to start pages that only live while Backstep has a task of theirs open."""
_LOOPBACK = "The start page was served by this machine: give its current address with --url."


class _Place(Record):
    """The current tab of the script, and the number of tabs."""

    tab: int = 0
    tabs: int = 1


@hiding
def export_playwright(store: TraceStore, run: int) -> str:
    """Return the script; raises TraceError if a step is damaged."""
    row, steps = store.run(run), steps_of(store, run)
    unrecorded = {
        one.step
        for one in store.interventions(run)
        if one.kind == "handover" and not one.before and " recorded, at " not in one.after
    }
    body: list[str] = []
    place = _Place()
    for index, step in enumerate(steps):
        after = next((one.observed for one in steps[index + 1 :] if one.observed is not None), None)
        if step.number in unrecorded:
            body += [
                _warning(
                    f"Before step {step.number} a person had the page; nothing that they did is recorded."
                )
            ]
        lines, place = _step_lines(step, row, place, after.observation if after is not None else None)
        body += [*lines, ""]
    environment = templates(keep_trailing_newline=True)
    text = "\n".join(body).rstrip()
    variables = sorted(set(re.findall(r'os\.environ\["(BACKSTEP_SECRET_\w+)"\]', text)))
    uses = {name for name in HELPERS if re.search(rf"(?<![\w.]){name}\(", text)}
    uses |= {"answers"} & set(re.findall(r"^answers(?=\.append)", text, re.MULTILINE))
    return environment.get_template("replay.py.jinja").render(
        run=row,
        docstring=_docstring(row, store.left_out or "", variables),
        start_url=literal(row.start_url),
        viewport=_viewport(steps),
        dialogs=_dialogs(store, run, steps),
        body=text,
        uses=uses,
        secret="os.environ[" in text,
        joins="urljoin(" in text,
        imported=_imported(uses),
    )


def _imported(uses: set[str]) -> list[str]:
    """Return what a script with these functions imports of Playwright."""
    names = ["BrowserContext", "Error", "Page", "sync_playwright"]
    if uses & {"one", "type_into", "at", "scroll", "drag", "select_text"}:
        names.append("Locator")
    names += [name for helper, name in (("frame", "Frame"), ("answers", "Dialog")) if helper in uses]
    return sorted(names, key=lambda name: (name.islower(), name))


def _step_lines(
    step: RunStep, row: RunRow, place: _Place, after: Observation | None
) -> tuple[list[str], _Place]:
    """Return the lines of one step under its comment, and where they leave the script.

    `after` is the page as the next step found it: it tells which tab is current then.
    """
    comment = _comment(step)
    why_not = _left_out(step)
    if why_not:
        return [comment, f"# {why_not}"], place
    acted = step.acted
    assert acted is not None
    primitives = _primitives(step, acted, after)
    lines = [
        line for one, seen in primitives for line in _primitive_lines(step, one, seen, row, acted.frames)
    ]
    if not any(_is_code(line) for line in lines):
        return [comment, *lines], place
    opened = sum(event.kind == "popup" for event in acted.events)
    if opened:
        lines = ["with context.expect_page() as opened:", *(f"    {line}" for line in lines)]
        lines += ["page = opened.value"]
    there = _after(place, [one.action for one, _ in primitives if one.outcome == "done"], opened)
    if after is not None and after.tabs:
        now = next((tab.index for tab in after.tabs if tab.current), there.tab)
        if now != there.tab:
            lines += [f"page = context.pages[{now}]"]
        there = _Place(tab=now, tabs=len(after.tabs))
    return [comment, *lines, "settle(page)"], there


def _is_code(line: str) -> bool:
    return not line.startswith(("#", "warn("))


def _after(place: _Place, actions: list[Action], opened: int) -> _Place:
    """Return where the script stands once it has done these, with so many tabs opened by the page itself."""
    tab, tabs = place.tab, place.tabs
    for action in actions:
        match action:
            case kinds.NewTab():
                tab, tabs = tabs, tabs + 1
            case kinds.CloseTab():
                tab, tabs = tabs - 2, tabs - 1
            case kinds.TabFocus():
                tab = action.index
    return _Place(tab=tabs + opened - 1 if opened else tab, tabs=tabs + opened)


def _primitives(
    step: RunStep, acted: Acted, after: Observation | None
) -> list[tuple[Primitive, Observation | None]]:
    """Return what was done in the page, each with the page that its refs belong to.

    A state's action is several: the page between two of them is not stored,
    so their elements are looked for in the one before and the one after.
    """
    before = step.observed.observation if step.observed is not None else None
    if not acted.primitives:
        assert step.action is not None
        assert acted.outcome != "skipped"
        return [
            (
                Primitive(
                    action=step.action,
                    outcome=acted.outcome,
                    message=acted.message,
                    target=acted.target,
                    xpath=acted.xpath,
                ),
                before,
            )
        ]
    return [(primitive, _page_of(primitive.action, before, after)) for primitive in acted.primitives]


def _page_of(action: Action, before: Observation | None, after: Observation | None) -> Observation | None:
    refs = [target.ref for target in action.targets if target.by == "ref"]
    for page in (before, after):
        if page is not None and all(page.element(ref) is not None for ref in refs):
            return page
    return None


def _primitive_lines(
    step: RunStep, primitive: Primitive, seen: Observation | None, row: RunRow, frames: tuple[int, ...]
) -> list[str]:
    description = f"{primitive.action} {primitive.target}".rstrip()
    if primitive.outcome == "failed":
        return [f"# Left out, because it failed: {_line(description)}. {_line(primitive.message)}".rstrip()]
    try:
        return lines_of(primitive.action, seen, primitive.xpath, row.start_url, frames, primitive.target)
    except NotExpressibleError as error:
        return [_warning(f"Step {step.number} is left out, {_line(description)}: {error}.")]


def _left_out(step: RunStep) -> str:
    """Return why a step has no lines, as a sentence, or nothing."""
    acted, action = step.acted, step.action
    if step.undone_by is not None:
        return f"Left out: step {step.undone_by} went back to before it."
    if acted is None:
        return "Left out: it was never carried out."
    if isinstance(action, kinds.Stop) and acted.effect == "stop":
        return (
            f"The agent stopped, with the answer {literal(_line(action.answer))}."
            if action.answer
            else "The end."
        )
    if isinstance(action, kinds.Note):
        return "A note; nothing is done in the page."
    if acted.effect == "go back":
        if acted.outcome == "done":
            return "The page is as it was then. The steps that this undid are left out above."
        return f"Left out: going back failed, and what follows may need another page. {_line(acted.message)}"
    if acted.effect != "page action":
        return f"Nothing is done in the page: {acted.outcome if acted.effect == 'none' else acted.effect}."
    if acted.outcome != "done" and not acted.primitives:
        return f"Left out, because it failed. {_line(acted.message)}"
    return ""


def _comment(step: RunStep) -> str:
    who = "" if step.origin == "agent" else f" (by {'a person' if step.origin == 'person' else step.origin})"
    action = f"{step.action} {step.row.target}".rstrip() if step.action is not None else "no action"
    return f"# {step.number}{who}. {_line(step.row.thought) or _line(action)}"


def _warning(sentence: str) -> str:
    return f"warn({literal(sentence)})"


def _line(text: str) -> str:
    """Return the text as one line that a comment can hold."""
    plain = _printable(text)
    return plain if len(plain) <= _WIDEST else plain[: _WIDEST - 1] + "…"


def _printable(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _docstring(row: RunRow, left_out: str, variables: list[str]) -> str:
    """Return the script's docstring, without its quotes."""
    how = (
        "Repeats the run's page actions in its own Chromium: `pip install playwright`, then"
        " `playwright install chromium`, or --browser with the path of an installed one."
    )
    served = _SERVED.get(row.environment, _LOOPBACK if _is_loopback(row.start_url) else "")
    needs = f"It reads secrets from the environment; set {', '.join(variables)}." if variables else ""
    first = f"Run {row.run} of Backstep: {row.task}, seed {row.seed}."
    docstring = "\n\n".join(
        textwrap.fill(_printable(part), 100)
        for part in (first, row.instruction, how, needs, served, left_out)
        if part.strip()
    )
    return docstring.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _viewport(steps: tuple[RunStep, ...]) -> tuple[int, int]:
    seen = (step.observed.observation.viewport for step in steps if step.observed is not None)
    return next((size for size in seen if all(size)), VIEWPORT)


def _dialogs(store: TraceStore, run: int, steps: tuple[RunStep, ...]) -> str:
    """Return how the run's dialogs were answered: accept, dismiss, or nothing if there were none."""
    events = [event for step in steps if step.acted for event in step.acted.events]
    events += [event.event for event in store.pages.events(run)]
    dialogs = [event.text for event in events if event.kind == "dialog"]
    if not dialogs:
        return ""
    return "dismiss" if all("dismissed" in text for text in dialogs) else "accept"


def _is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in ("localhost", "::1") or host.startswith("127.")
