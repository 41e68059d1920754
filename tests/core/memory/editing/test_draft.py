"""Undo and redo of a draft, by the names of its changes."""

from core.memory.editing.draft import EMPTY, MOST, DraftHistory


def wrote(history, text, key="task"):
    return history.done("edit the task", history.now.replace(task=text), key=key)


def test_a_change_is_undone_and_done_again_by_its_name():
    history = wrote(DraftHistory.of(EMPTY), "Pay.")
    assert (history.undo_name, history.redo_name) == ("edit the task", "")
    back = history.undone()
    assert (back.now, back.undo_name, back.redo_name) == (EMPTY, "", "edit the task")
    assert back.redone().now.task == "Pay."


def test_letters_typed_into_one_field_are_one_change_until_it_is_sealed():
    history = wrote(wrote(DraftHistory.of(EMPTY), "P"), "Pay")
    assert history.undone().now == EMPTY
    history = wrote(history.sealed(), "Pay.")
    assert history.undone().now.task == "Pay"


def test_what_is_typed_after_an_undo_joins_no_earlier_change():
    history = wrote(wrote(DraftHistory.of(EMPTY), "Pay", key="a"), "Paid", key="b").undone()
    history = wrote(history, "Payment", key="a")
    assert [history.now.task, history.undone().now.task] == ["Payment", "Pay"]
    assert history.redo_name == ""


def test_no_difference_is_no_change_and_the_ends_are_the_ends():
    history = DraftHistory.of(EMPTY)
    assert history.done("nothing", EMPTY) is history
    assert history.undone().now == history.redone().now == EMPTY


def test_the_oldest_changes_are_forgotten():
    history = DraftHistory.of(EMPTY)
    for number in range(MOST + 20):
        history = wrote(history, str(number), key="")
    for _ in range(MOST + 20):
        history = history.undone()
    assert history.now.task == "19"


def test_the_changes_since_a_draft_was_saved_are_named_once_each():
    history = wrote(wrote(DraftHistory.of(EMPTY), "a", key=""), "b", key="")
    assert history.names_since(EMPTY) == ("edit the task",)
    assert history.names_since(history.now) == ()
