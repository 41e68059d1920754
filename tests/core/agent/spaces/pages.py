"""A small shop in words: a state-space file and pages as observations."""

from core.schema.observation import Box, Element, Observation, Option

SHOP = """
title = "Corner shop"
environments = ["corner"]

[backup]
transitions = 6
choose_at = 4
question = "Which one is best?"
last_actions = ["buy"]

[[state]]
name = "search"
must = ['searchbox', 'button "Search"']
must_not = ['list "Results"']
instruction = "Look for it."

[[state.action]]
name = "look_for"
description = "Search for words."
does = ['type [searchbox "Find"] [{words}]', 'click [button "Search"]']
leads_to = ["results"]
remembers = { words = "{words}", max_price = "{max_price}" }

[[state.action.parameter]]
name = "words"

[[state.action.parameter]]
name = "max_price"
type = "number"
required = false

[[state]]
name = "results"
url = '/results'
must = ['list "Results"']

[[state.action]]
name = "open_item"
description = "Look at an item."
does = ['click [link "{item}"]']
leads_to = ["item"]
remembers = { item = "{item}" }
marks = "item"

[[state.action.parameter]]
name = "item"
from_page = { element = 'link ~"^(?P<value>B\\d+)$"', within = 'list "Results"' }

[[state.action]]
name = "next_page"
description = "Further results."
needs = ['link "Next"']
does = ['click [link "Next"]']

[[state]]
name = "item"
url = '/item'
must = ['button "Buy"']
candidate = "item"
shows = ["words", "max_price"]

[[state.action]]
name = "buy"
description = "Buy it."
cannot_be_undone = true
leads_to = ["bought"]
does = ['click [{choice_ref}]', 'click [button "Buy"]']
option_groups = { group = 'radiogroup', choice = 'radio' }

[[state.action]]
name = "back"
description = "Leave it for another."
does = ['click [link "Back"]']
leads_to = ["results"]
sets_aside = "item"

[[state]]
name = "bought"
must = ['heading "Thank you"']
stops = true
"""


def element(ref: int, role: str, name: str = "", **more: object) -> Element:
    return Element.model_validate(
        {"ref": ref, "role": role, "name": name, "box": Box(x=0, y=0, width=10, height=10), **more}
    )


def page(*elements: Element, url: str = "http://corner.test/") -> Observation:
    return Observation(url=url, title="Corner shop", elements=elements)


SEARCH = page(element(1, "searchbox", "Find"), element(2, "button", "Search"))
RESULTS = page(
    element(1, "link", "B9"),
    element(2, "list", "Results"),
    element(3, "link", "B1", parent=2),
    element(4, "link", "B2", parent=2),
    element(5, "link", "About us", parent=2),
    url="http://corner.test/results?q=lamp",
)
ITEM = page(
    element(1, "radiogroup", "Shoe size"),
    element(2, "radio", "7", parent=1, states=("checked",)),
    element(3, "radio", "8", parent=1),
    element(4, "radio", "9", parent=1, states=("disabled",)),
    element(5, "radiogroup", "Colour"),
    element(6, "generic", "", parent=5),
    element(7, "radio", 'deep "sea" [blue]', parent=6),
    element(8, "link", "Back"),
    element(9, "button", "Buy"),
    url="http://corner.test/item/B1",
)
SELECT = page(
    element(
        1,
        "combobox",
        "Size",
        options=(Option(label="S", value="s"), Option(label="L", value="l", disabled=True)),
    )
)
