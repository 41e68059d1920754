"""Pages written down as lines, for the tests of the built-in LLM."""

import re

from core.agent.abstraction import clean_of
from core.agent.general_space import permissible_of
from core.schema.messages import LLMRequest, Message, PromptView, Tool, Turn
from core.schema.observation import Box, Element, Observation, Option, Use

BOX = Box(x=0, y=0, width=10, height=10)
_LINE = re.compile(
    r'( *)(\w+)(?: "([^"]*)")?(?: value="([^"]*)")?((?: [a-z]+)*)(?: \(([^)]*)\))?(?: options: (.*))?'
)
_USES: dict[str, tuple[Use, ...]] = {
    **dict.fromkeys(("button", "link", "tab", "generic", "menuitem", "option"), ("click",)),
    **dict.fromkeys(("textbox", "searchbox", "spinbutton"), ("click", "type")),
    **dict.fromkeys(("checkbox", "radio"), ("click", "check")),
    **dict.fromkeys(("combobox", "listbox"), ("select", "click")),
}


def page_of(lines: str, *, box: Box = BOX, tag: str = "") -> Observation:
    """Return the observation that prints as these lines, refs counted from 1; indentation makes parents."""
    elements: list[Element] = []
    holders: list[tuple[int, int]] = []
    for line in lines.strip("\n").splitlines():
        match = _LINE.fullmatch(line.rstrip())
        assert match is not None, line
        depth = len(match[1]) // 2
        holders = [holder for holder in holders if holder[0] < depth]
        ref = len(elements) + 1
        names = [name.strip() for name in (match[7] or "").split("|") if name.strip()]
        options = tuple(
            Option(label=name.strip("*"), value=name.strip("*"), selected=name.startswith("*"))
            for name in names
        )
        elements.append(
            Element(
                ref=ref,
                role=match[2],
                name=match[3] or "",
                value=match[4] or "",
                states=tuple((match[5] or "").split()),
                detail=match[6] or "",
                options=options,
                uses=_USES.get(match[2], ()),
                depth=depth,
                parent=holders[-1][1] if holders else None,
                box=box,
                tag=tag,
            )
        )
        holders.append((depth, ref))
    return Observation(url="http://localhost/", elements=tuple(elements), viewport=(1000, 720))


def request_for(
    objective: str, page: str | Observation, *turns: Turn, tools: bool = True, purpose: str = "decide"
) -> LLMRequest:
    """Return the request of a decision on a page."""
    observation = page_of(page) if isinstance(page, str) else page
    permissible = permissible_of(observation)
    return LLMRequest.model_validate(
        {
            "purpose": purpose,
            "messages": (Message(role="user", text=objective),),
            "tools": tuple(
                Tool(name=one.name, description=one.description, parameters=one.json_schema())
                for one in permissible.actions
            )
            if tools
            else (),
            "permissible": permissible,
            "view": PromptView(objective=objective, observation=clean_of(observation), history=turns),
        }
    )
