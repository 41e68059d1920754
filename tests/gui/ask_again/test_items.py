"""The exemplars and the policy of a prompt by name, and the messages that follow them."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from core.debugger.ask_again.views import AskView, Attribution, ExemplarChoice, WrittenExemplar
from core.schema.messages import Message, PromptPart
from gui.ask_again.items import ExemplarChooser
from gui.ask_again.window import AskAgain
from gui.widgets.item_views import ROW


def message(text: str, role="user") -> Message:
    return Message(role=role, text=text)


MESSAGES = (
    message("You act in a browser.\nHow you work:\nNever lose a draft.\n", "system"),
    message("Task: Keep the draft of Ada.\nObservation: [1] button"),
    message("ACTION: click [1]", "assistant"),
    message("Task: Send the letter to Bob.\nObservation: [2] link"),
    message("ACTION: click [2]", "assistant"),
    message("Task: Keep the draft.\nObservation: [3] button"),
)
PARTS = (
    PromptPart(
        kind="exemplar", id="draft-1", title="Keep the draft of Ada.", family="draft", message=1, messages=2
    ),
    PromptPart(
        kind="exemplar", id="mail-1", title="Send the letter to Bob.", family="mail", message=3, messages=2
    ),
    PromptPart(kind="policy", id="web/drafts", title="drafts", message=0, start=36, end=55),
)
MEMORY = (
    ExemplarChoice(id="draft-1", family="draft", task="Keep the draft of Ada."),
    ExemplarChoice(id="draft-2", family="draft", task="Keep the draft of Eve."),
    ExemplarChoice(id="mail-1", family="mail", task="Send the letter to Bob."),
    ExemplarChoice(id="shop-1", family="shop", task="Buy a lamp."),
)
VIEW = AskView(
    run=18,
    step=3,
    recorded="click [3]",
    llm="fast",
    messages=MESSAGES,
    parts=PARTS,
    parts_known=True,
    memory=MEMORY,
)


@pytest.fixture
def dialog(theme, qtbot: QtBot) -> AskAgain:
    dialog = AskAgain(theme)
    qtbot.addWidget(dialog)
    dialog.show_view(VIEW)
    dialog.show()
    qtbot.waitExposed(dialog)
    return dialog


def names(dialog: AskAgain) -> list[str]:
    return [row.text for row in dialog.items.rows.rows]


def select(dialog: AskAgain, id: str) -> None:
    items = dialog.items.items
    assert dialog.items.rows.select_key(next(at for at, one in enumerate(items) if one.part.id == id))


def asked(dialog: AskAgain) -> list[str]:
    return [one.text for one in dialog.question.messages]


def test_the_parts_are_shown_by_their_names(dialog: AskAgain):
    assert names(dialog) == ["drafts", "Keep the draft of Ada.", "Send the letter to Bob."]
    assert "draft · draft-1 · messages 2 to 3" in dialog.items.rows.rows[1].detail
    assert dialog.items.section.fact.text() == "2 exemplars"


def test_an_exemplar_is_left_out_and_its_messages_go(dialog: AskAgain):
    select(dialog, "draft-1")
    dialog.items.drop_button.click()
    assert names(dialog) == ["drafts", "Send the letter to Bob."]
    assert [one[:12] for one in asked(dialog)] == [one.text[:12] for one in (MESSAGES[0], *MESSAGES[3:])]


def test_exemplars_change_places_and_the_one_that_was_moved_stays_current(dialog: AskAgain):
    select(dialog, "draft-1")
    assert not dialog.items.up_button.isEnabled()
    dialog.items.down_button.click()
    assert names(dialog) == ["drafts", "Send the letter to Bob.", "Keep the draft of Ada."]
    assert asked(dialog)[1:5] == [MESSAGES[at].text for at in (3, 4, 1, 2)]
    assert not dialog.items.down_button.isEnabled()


def test_an_exemplar_is_switched_once_the_other_is_written(dialog: AskAgain, qtbot: QtBot):
    select(dialog, "mail-1")
    dialog.items.switch_button.click()
    chooser = dialog.findChild(ExemplarChooser)
    assert [chooser.names.item(at).text() for at in range(chooser.names.count())] == [
        "draft: Keep the draft of Eve.",
        "shop: Buy a lamp.",
    ]
    chooser.search.setText("eve draft")
    with qtbot.waitSignal(dialog.exemplar_requested) as wanted:
        qtbot.keyClick(chooser.search, Qt.Key.Key_Return)
    assert wanted.args == [18, 3, "draft-2"]
    messages = (message("Task: Keep the draft of Eve."), message("ACTION: click [9]", "assistant"))
    written = WrittenExemplar(id="draft-2", family="draft", task="Keep the draft of Eve.", messages=messages)
    dialog.show_view(VIEW.replace(written=written))
    assert names(dialog) == ["drafts", "Keep the draft of Ada.", "Keep the draft of Eve."]
    assert asked(dialog)[3:5] == [one.text for one in messages]


def test_a_search_without_a_match_offers_nothing(theme, qtbot: QtBot):
    chooser = ExemplarChooser(MEMORY, "Switch")
    qtbot.addWidget(chooser)
    chooser.search.setText("lamp nowhere")
    assert not chooser.ok.isEnabled()
    assert chooser.fact.text() == "No exemplar matches."


def test_the_policy_is_rewritten_in_its_place(dialog: AskAgain):
    dialog.items.rewrite_as("Keep every draft.")
    assert "How you work:\nKeep every draft.\n" in asked(dialog)[0]
    assert names(dialog)[0] == "drafts"
    dialog.items.rewrite_as("Keep all.")
    assert "How you work:\nKeep all.\n" in asked(dialog)[0]


def test_edits_by_hand_stay_where_exemplars_are_rearranged(dialog: AskAgain):
    dialog.messages.sections[-1].set_folded(False)
    dialog.messages.sections[-1].editor.appendPlainText("Hurry.")
    select(dialog, "draft-1")
    dialog.items.drop_button.click()
    assert asked(dialog)[-1].endswith("Hurry.")
    assert len(asked(dialog)) == 4


def test_an_exemplar_that_can_not_be_told_apart_any_more_says_so(dialog: AskAgain, qtbot: QtBot):
    dialog.messages.sections[2].delete_button.click()
    qtbot.waitUntil(lambda: "can no longer be told apart" in dialog.items.rows.rows[2].detail)
    assert dialog.items.rows.rows[2].text == "Keep the draft of Ada."
    select(dialog, "draft-1")
    assert not dialog.items.drop_button.isEnabled()
    assert not dialog.items.switch_button.isEnabled()
    select(dialog, "mail-1")
    dialog.items.drop_button.click()
    assert len(asked(dialog)) == 3


def test_reset_brings_all_of_them_back(dialog: AskAgain, qtbot: QtBot):
    select(dialog, "draft-1")
    dialog.items.drop_button.click()
    qtbot.waitUntil(dialog.reset_button.isEnabled)
    dialog.reset_button.click()
    assert names(dialog) == ["drafts", "Keep the draft of Ada.", "Send the letter to Bob."]
    assert dialog.question.messages == ()


def test_a_run_that_was_recorded_without_them_says_so(dialog: AskAgain):
    dialog.show_view(VIEW.replace(step=4, parts=(), parts_known=False))
    assert "did not record" in dialog.items.note.text()
    assert not dialog.items.rows.isVisible()


def test_a_prompt_without_such_parts_shows_none(dialog: AskAgain):
    dialog.show_view(VIEW.replace(step=4, parts=()))
    assert not dialog.items.isVisible()


def test_it_is_said_that_the_built_in_llm_reads_no_words(dialog: AskAgain, qtbot: QtBot):
    dialog.show_view(VIEW.replace(llm="rules"))
    assert not dialog.rules_note.isVisible()
    select(dialog, "draft-1")
    dialog.items.drop_button.click()
    qtbot.waitUntil(dialog.rules_note.isVisible)


def test_how_much_an_exemplar_did_is_asked_and_shown_with_it(dialog: AskAgain, qtbot: QtBot):
    assert not dialog.credit_button.isHidden()
    with qtbot.waitSignal(dialog.credit_requested) as asked:
        dialog.credit_button.click()
    assert asked.args[0].messages == ()
    credit = Attribution(
        id="draft-1",
        run=VIEW.run,
        step=VIEW.step,
        llm="m",
        action="click [1]",
        with_same=4,
        with_all=5,
        without_same=1,
        without_all=5,
    )
    dialog.show_view(VIEW.replace(credits=(credit,)))
    rows = [
        dialog.items.rows.model().index(at, 0).data(ROW) for at in range(dialog.items.rows.model().rowCount())
    ]
    details = {row.text: row.detail for row in rows}
    assert "credit +0.60: 4 of 5 with it, 1 of 5 without" in details["Keep the draft of Ada."]
    assert "credit" not in details["Send the letter to Bob."]
