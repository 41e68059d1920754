"""What expressions see at events of real runs."""

import pytest

from core.debugger.breakpoints.stored_events import events_of
from core.debugger.breakpoints.subject import EventSubject, SubjectOf
from core.trace.store import TraceStore
from tests.core.trace.making import page, start, write_step

browser = pytest.mark.browser


def seen(event):
    subject = SubjectOf(event)
    return {name: subject[name] for name in EventSubject.model_fields}


def test_between_two_steps_expressions_see_the_page_of_the_first_and_no_action(tmp_path):
    store = TraceStore.open(tmp_path / "traces.db")
    run = store.begin_run(start())
    write_step(store, run, 1, observation=page("Save"))
    write_step(store, run, 2, observation=page("Send"))
    between, after = (
        next(
            seen(one)
            for one in events_of(store, run)
            if one.figures.step == 2 and one.is_at(where, "observe")
        )
        for where in ("before", "after")
    )
    assert [between["page"].elements[0].name, after["page"].elements[0].name] == ["Save", "Send"]
    assert (between["state"].name, between["permissible"], between["last"].outcome) == (
        "form",
        ("click",),
        "done",
    )
    assert (between["action"], between["thought"], between["judgement"]) == (None, None, None)
    store.close()


@browser
def test_expressions_see_what_each_mechanism_has_to_tell(stored):
    def last(name, step, phase):
        return seen(
            next(one for one in stored.events(name) if one.is_at("after", phase) and one.figures.step == step)
        )

    shop = last("shopping", 3, "decide")
    assert (shop["state"].name, shop["state"].space) == ("item", "shop")
    assert "buy_now" in shop["permissible"]
    assert (shop["action"].name, shop["thought"], shop["policy"]) == ("features", "Thought 3.", None)
    assert shop["last"].outcome == "done"
    assert (shop["run"].preset, shop["step"].phase) == ("laser", "decide")

    stack = last("policies", 2, "act")
    assert (stack["policy"].name, stack["policy"].argument, stack["policy"].depth) == (
        "search_shop",
        "steel bottle",
        2,
    )
    assert stack["stack"] == ("shop", "search_shop")
    assert (stack["action"].text, stack["action"].target) == ("steel bottle", 'searchbox "Keywords"')

    judged = last("mended", 1, "align")
    assert (judged["plan"].current, judged["plan"].done, judged["plan"].left) == ("Open the orders", 0, 2)
    assert (judged["judgement"].aligned, judged["remedies"].waiting) == (False, 0)
    assert last("mended", 1, "anticipate")["remedies"].waiting == 1
    assert last("mended", 3, "decide")["action"].origin == "remedy"
    assert last("mended", 2, "observe")["plan"].current == "Open the orders"

    recalled = last("trajectories", 1, "recall")["retrieval"]
    assert recalled.distance > 0
    assert recalled.exemplars == ()  # The nearest is beyond the threshold of the preset.
    assert last("clumsy", 1, "observe")["retrieval"] is None
    assert [one.name for one in last("clumsy", 1, "observe")["page"].elements if one.role == "button"] == [
        "Delete all"
    ]
