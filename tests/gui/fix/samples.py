"""Sample views as the service of Fix sends them."""

from core.debugger.causes.records import Patch
from core.debugger.editing.views import EditText
from core.debugger.fix.views import Clue, FamilyResult, FixPlace, FixView, Rerun

POLICY = """+++
description = "Enters keywords, and a price limit, into the shop's search and brings up the list of results."
actions = ["type", "click", "press", "go_back", "wait"]
policies = []

[[parameters]]
name = "words"
description = "What to search for."
+++

# Instruction

Enter the words in the search field. Put the price into the keywords.
Then press Search, and tell how many results there are.
"""
NAME = "policies/shop/search_shop.md"
PLACE = FixPlace(kind="policy", name=NAME, title="Policy shop/search_shop", line=13)
SPACE = FixPlace(kind="state space", name="state_spaces/shop.toml", title="State space shop")
PROMPT = FixPlace(kind="prompt", name="prompts/step/system.j2", title="Prompt step/system.j2")
EXEMPLAR = FixPlace(kind="exemplar", name="buy-lamp", title="Exemplar buy-lamp")
ACTION = FixPlace(kind="action", name="action", title="The action of this step only")
TEXT = EditText(
    name=NAME,
    title="The policy shop/search_shop.md",
    language="markdown",
    text=POLICY,
    note="Saves to your own copy, /home/me/.config/backstep/policies/shop/search_shop.md. "
    "The bundled file stays unchanged.",
    preview="### system\nYou carry out one assignment in a web browser.\n\n### user\nObjective: search_shop [lamp]",
)
VIEW = FixView(
    run=14,
    step=3,
    ready=True,
    about="shop/buy-lamp, seed 4",
    success=False,
    before="no success, reward 0.33, 6 steps: attributes 1 of 3 (missing green, ceramic)",
    steps=tuple(
        (number, action)
        for number, action in enumerate(
            (
                "click [12]",
                "search_shop [lamp]",
                "type [4] [green lamp 40]",
                "press [Enter]",
                "stop [0]",
                "stop []",
            ),
            start=1,
        )
    ),
    clues=(
        Clue(
            step=3,
            reason="The same task succeeded in run 9; they differ from step 3 on, where the successful run did "
            "type textbox "
            "in search.",
        ),
        Clue(step=5, reason="The policy search_shop returned nothing."),
        Clue(
            step=1,
            reason="hover is not permitted to the policy; the success took it here.",
            file=NAME,
            line=3,
            patch=Patch(
                file=NAME, find='actions = ["type", "click"', put='actions = ["hover", "type", "click"'
            ),
        ),
    ),
    places=(PLACE, SPACE, PROMPT, EXEMPLAR, ACTION),
    place=PLACE,
    text=TEXT.replace(asked=True),
    recognised="State: search. Permissible: as before.",
    llm="rules",
)
ENDED = Rerun(run=15, step=3, state="ended", success=True, steps=5, words="success, reward 1, 5 steps")

FAMILY = FamilyResult(name="family of run 14", before=(0, 2), after=(2, 2), seeds=5, done=4, total=10)
