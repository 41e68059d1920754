"""The mailbox: read who wrote what, then reply, forward, star or delete."""

from core.debugger.exemplars.scripted import Look, Script
from core.schema.observation import Observation
from tests.core.exemplars.solvers.page import after, all_of, between, click, detailed, quoted, the, write


def email_inbox(instruction: str, page: Observation) -> Script:
    sender = between(instruction, "the email by ", " and ")
    row = next(one for one in all_of(page, "generic") if one.name.startswith(f"{sender} "))
    for icon, words, effect in (
        (".star", "click the star icon", "marks it as important"),
        (".trash", "click the trash icon", "deletes it"),
    ):
        if words in instruction:
            button = after(page, row, lambda one, icon=icon: one in detailed(page, icon))
            yield Look(
                thought=f"The {icon.removeprefix('.')} in the row of {sender} {effect}; "
                "the email need not be opened.",
                actions=(click(button),),
                needs=(row.ref,),
            )
            return
    page = yield Look(thought=f"Open the email by {sender} first.", actions=(click(row),))
    if "reply" in instruction:
        page = yield Look(
            thought="The email is open and offers a reply.", actions=(click(the(page, "generic", "Reply")),)
        )
        (text,) = quoted(instruction)
        yield Look(
            thought="Write the text as it is given and send it.",
            actions=(write(the(page, "textbox"), text), click(detailed(page, "#send-reply")[0])),
        )
        return
    page = yield Look(
        thought="The email is open; it is to be passed on.", actions=(click(the(page, "generic", "Forward")),)
    )
    receiver = between(instruction, "that email to ", ".")
    yield Look(
        thought=f"{receiver} goes into the upper field, the text is there already; send it.",
        actions=(write(all_of(page, "textbox")[0], receiver), click(detailed(page, "#send-forward")[0])),
    )
