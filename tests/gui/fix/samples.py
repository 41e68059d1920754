"""Sample views as the service of Fix sends them."""

from core.debugger.causes.records import Evidence
from core.debugger.editing.views import EditText
from core.debugger.evaluations.proof_records import Candidate, CandidateProof, Pairs
from core.debugger.fix.views import Clue, FixPlace, FixView, Rerun

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
CHANGE = Candidate(
    what=f"{NAME}:3: hover is not permitted to the policy.",
    origin="cause",
    files={NAME: POLICY.replace('actions = ["type"', 'actions = ["hover", "type"')},
    base={NAME: POLICY},
    step=1,
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
            what="The same task succeeded in run 9; they differ from step 3 on.",
            why="The successful run did type textbox in search.",
            certainty="likely",
            evidence=(
                Evidence(step=3, part="action", text="press [Enter]"),
                Evidence(run=9, step=3, part="success", text="type [4] [green lamp 40]", ref=4),
            ),
        ),
        Clue(
            step=1,
            what="hover is not permitted to the policy; the success took it here.",
            why="The element is on the page.",
            certainty="sure",
            evidence=(Evidence(step=1, part="page", text='button "Menu"', ref=12),),
            file=NAME,
            line=3,
            candidate=CHANGE,
        ),
        Clue(step=5, what="The policy search_shop returned nothing.", certainty="possible"),
    ),
    chosen=0,
    places=(PLACE, SPACE, PROMPT, EXEMPLAR, ACTION),
    place=PLACE,
    text=TEXT.replace(asked=True),
    recognised="State: search. Permissible: as before.",
    llm="rules",
)
ENDED = Rerun(run=15, step=3, state="ended", success=True, steps=5, words="success, reward 1, 5 steps")

PROOF = CandidateProof(
    candidate=CHANGE,
    outcome="proven",
    why="It mends 4 of 4 sealed failures, and harms nothing that was tried.",
    again=Pairs(judged=1, changed=1, mended=1),
    chosen=Pairs(judged=5, changed=5, mended=5),
    sealed=Pairs(judged=4, changed=4, mended=4),
    others=12,
    runs=33,
    cost=0.04,
)
PROPOSED = VIEW.replace(chosen=1, step=1)
"""The cause with a change is looked at."""
_HOVER = VIEW.clues[1].replace(proof=PROOF)
PROVEN = PROPOSED.replace(clues=(_HOVER, VIEW.clues[0], VIEW.clues[2]), chosen=0)
PROVING = PROPOSED.replace(
    proving=VIEW.run,
    done=7,
    of=34,
    clues=(
        VIEW.clues[0],
        _HOVER.replace(
            proving=True, proof=PROOF.replace(outcome="inconclusive", sealed=Pairs(), others=0, why="")
        ),
        VIEW.clues[2],
    ),
)
