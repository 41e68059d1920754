import ast
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings

from core.schema.action import (
    Action,
    AnswerDialog,
    Backtrack,
    Click,
    CloseTab,
    Drag,
    Goto,
    Named,
    NewTab,
    NewTrial,
    Press,
    RefTarget,
    RoleTarget,
    Scroll,
    Select,
    Stop,
    TabFocus,
    Type,
    XPathTarget,
)
from core.schema.action_text import parse_action
from core.schema.errors import TraceError
from core.schema.events import BrowserEvent
from core.schema.observation import Box, Element, Observation, Option, PageFrame, Tab
from core.schema.step import Acted, Committed, Decided, Observed, Proposal, Reviewed
from core.trace.exports.playwright_script import export_playwright
from core.trace.records import Intervention
from tests.core.browser.site import Site
from tests.core.trace.exports.replaying import miniwob_pages, replay, reward_of, run_by_rules, shop
from tests.core.trace.making import page, start, write_run
from tests.core.trace.making_records import of


def write(store, *steps):
    """Write a run of these steps, each an action, an Acted, or both with the page before it."""
    run = store.begin_run(start('Say """it\\""" \\ now.'))
    for number, step in enumerate(steps, start=1):
        action, acted, seen = (*step, None, None)[:3] if isinstance(step, tuple) else (step, None, None)
        acted = acted or Acted(effect="page action", outcome="done", xpath="/html[1]/body[1]/button[1]")
        store.begin_step(run, number)
        for record in (
            Observed(observation=seen or page("Save", "Save", "Cancel")),
            Decided(proposal=Proposal(action=action, thought=f"Thought\n{number}.")),
            Reviewed(origin="agent", action=action),
            acted,
            Committed(seconds=1.0, seconds_in_llm=0.5),
        ):
            store.save_phase(run, number, record)
    return run


def script_of(store, *steps):
    script = export_playwright(store, write(store, *steps))
    ast.parse(script)
    return script


def body_of(script):
    return script[script.index("settle(page)") : script.index("return page")]


def test_an_element_whose_frame_is_known_by_its_place_is_looked_for_there(store):
    target = RoleTarget(role="textbox", name="Card")
    acted = Acted(effect="page action", outcome="done", xpath='//*[@id="card"]', frames=(1, 0))
    body = body_of(script_of(store, (Type(target=target, text="4"), acted)))
    scope = "page.main_frame.child_frames[1].child_frames[0]"
    assert f'one({scope}.get_by_role("textbox", name="Card", exact=True), {scope}.locator(' in body


# Real runs, repeated


@pytest.mark.browser
def test_the_script_of_a_solved_miniwob_run_solves_the_page_again(stage, tmp_path):
    done = run_by_rules(stage, "miniwob/choose-list", seed=3)
    assert done.success
    store = stage.services.store
    script = export_playwright(store, done.run)
    with miniwob_pages(3) as (origin, ends):
        process = replay(script, tmp_path, origin + urlsplit(store.run(done.run).start_url).path)
    assert (process.returncode, process.stderr) == (0, "")
    assert ends[0]["raw_reward"] == 1


@pytest.mark.browser
def test_the_script_of_a_shop_run_buys_for_the_same_reward(stage, tmp_path):
    done = run_by_rules(stage, "shop/goal-001", preset="laser")
    script = export_playwright(stage.services.store, done.run)
    with shop() as (origin, watched):
        process = replay(script, tmp_path, f"{origin}/")
    assert process.returncode == 0, process.stderr
    assert reward_of(watched.last, "goal-001") == done.reward


@pytest.mark.browser
def test_the_script_clicks_drags_turns_and_selects_at_the_same_places(store, tmp_path):
    heard = "document.title += ' ' + [...arguments].join(' ')"
    body = (
        "<style>body { margin: 0 }</style><canvas id=c width=200 height=100></canvas><p id=p>one <b>two</b> three</p>"
        f"<div id=z style='margin-top:3000px'>here</div><script>function hear() {{ {heard} }}"
        "c.onclick = e => hear('click', e.offsetX, e.offsetY, e.shiftKey);"
        "c.onwheel = e => { e.preventDefault(); hear('wheel') };"
        "c.onmousedown = e => { if (e.button === 2) hear('right') };"
        "z.onmouseup = () => hear('dropped', getSelection().toString())</script>"
    )
    paths = {name: f"/html[1]/body[1]/{path}" for name, path in {"c": "canvas[1]", "p": "p[1]"}.items()}

    def done(text, name):
        acted = Acted(effect="page action", outcome="done", xpath=paths[name])
        return parse_action(text), acted

    script = script_of(
        store,
        done("click [xpath=//canvas] [at=0.25,0.7] [keys=Shift]", "c"),
        done("right_click [xpath=//canvas]", "c"),
        done("scroll [down] [xpath=//canvas]", "c"),
        done("select_text [xpath=//p] [two three]", "p"),
        done("press [Shift]", "p"),
        done("drag [xpath=//canvas] [xpath=//div] [from_at=0.1,0.5]", "c"),
    )
    with Site() as site:
        process = replay(script, tmp_path, site.page(body))
    assert (process.returncode, process.stderr) == (0, "")
    assert "click 50 70 true right wheel dropped" in process.stdout


# What is written


def test_an_element_is_found_by_role_and_name_and_its_place_among_those_alike(store):
    script = script_of(store, Click(target=RefTarget(ref=2)))
    assert (
        'one(page.get_by_role("button", name="Save", exact=True).nth(1),'
        ' page.locator("xpath=/html[1]/body[1]/button[1]")).click()'
    ) in script


def test_each_step_is_under_its_thought_in_one_line(store):
    script = script_of(store, Press(keys="ctrl+a"), Scroll(direction="down"))
    assert '    # 1. Thought 1.\n    page.keyboard.press("Control+a")\n' in script
    assert '    # 2. Thought 2.\n    scroll(page.locator("html"), across=0, down=0.8)\n' in script


@pytest.mark.parametrize(
    ("action", "line"),
    [
        ("click [1] [keys=Control+Shift]", '.click(modifiers=["Control", "Shift"])'),
        ("click [1] [at=0.3,0.7]", "element.click(position=at(element, 0.3, 0.7))"),
        ("right_click [1]", '.click(button="right")'),
        ("right_click [1] [at=1,1]", 'element.click(button="right", position=at(element, 1, 1))'),
        ("click_at [40] [7]", "page.mouse.click(40, 7)"),
        ("drag [1] [1] [from_at=0,0.5] [to_at=1,0.5]", ", start=(0.0, 0.5), end=(1.0, 0.5))"),
        ("select_text [1] [to be] [nth=2]", ', "to be", nth=2)'),
        ("upload [1] [/a b] [/c]", '.set_input_files(["/a b", "/c"])'),
        ("scroll [down] [1]", ", across=0, down=0.8, wheel=True)"),
    ],
)
def test_places_keys_and_buttons_of_the_mouse_are_repeated(store, action, line):
    acted = Acted(effect="page action", outcome="done", xpath="/html[1]/body[1]/button[1]")
    script = script_of(store, (parse_action(action), acted))
    assert line in body_of(script)
    compile(script, "replay.py", "exec")


def test_only_the_functions_that_are_called_are_written(store):
    script = script_of(store, Press(keys="Enter"))
    assert "def settle" in script
    for name in ("one", "drag", "scroll", "frame", "warn", "type_into"):
        assert f"def {name}(" not in script
    assert "Locator" not in script


def test_what_a_remedy_took_back_is_left_out_and_said_so(store):
    back = Acted(effect="go back", outcome="done")
    body = body_of(
        script_of(
            store,
            Click(target=RefTarget(ref=1)),
            Click(target=RefTarget(ref=3)),
            (Backtrack(step=2), back),
            Press(keys="Enter"),
        )
    )
    assert "Left out: step 3 went back to before it." in body
    assert body.count(".click()") == 1
    assert "Cancel" not in body
    assert 'page.keyboard.press("Enter")' in body


def test_a_new_trial_leaves_out_all_that_was_before_it(store):
    body = body_of(
        script_of(
            store,
            Press(keys="a"),
            Press(keys="b"),
            (NewTrial(), Acted(effect="go back", outcome="done")),
            Press(keys="c"),
        )
    )
    assert [line.strip() for line in body.splitlines() if "press(" in line] == ['page.keyboard.press("c")']


def test_going_back_in_vain_undoes_nothing(store):
    lost = Acted(effect="go back", outcome="failed", message="The page is lost.")
    body = body_of(script_of(store, Press(keys="a"), (Backtrack(step=1), lost)))
    assert 'press("a")' in body
    assert "going back failed, and what follows may need another page. The page is lost." in body


def test_a_failed_action_is_a_comment_that_says_why(store):
    failed = Acted(effect="page action", outcome="failed", message="It is covered.")
    body = body_of(script_of(store, (Click(target=RefTarget(ref=1)), failed)))
    assert "# Left out, because it failed. It is covered." in body
    assert ".click()" not in body


def test_an_element_that_cannot_be_found_again_is_a_warning(store, tmp_path):
    action = Drag(target=RefTarget(ref=1), to=RefTarget(ref=99))
    script = script_of(store, action)
    assert "warn(" in body_of(script)
    assert "neither by role and name nor by an XPath" in script


def test_the_page_in_a_persons_hands_is_a_warning(store):
    run = write(store, Press(keys="a"))
    store.save_intervention(Intervention(run=run, step=1, kind="handover", who="person", when=1.0))
    body = body_of(export_playwright(store, run))
    assert body.index("warn(") < body.index('press("a")')


def test_tabs_are_followed(store):
    def seen(current, count):
        tabs = tuple(Tab(index=i, title="", url="", current=i == current) for i in range(count))
        return page("Save").replace(tabs=tabs)

    popup = Acted(
        effect="page action",
        outcome="done",
        events=(BrowserEvent(kind="popup", text="The page opened a new tab."),),
    )
    body = body_of(
        script_of(
            store,
            (Click(target=RefTarget(ref=1)), popup, seen(0, 1)),
            (NewTab(), None, seen(1, 2)),
            (TabFocus(index=0), None, seen(2, 3)),
            (CloseTab(), None, seen(0, 3)),
            (Press(keys="a"), None, seen(0, 2)),
        )
    )
    lines = [line.strip() for line in body.splitlines() if "page = " in line or "expect_page" in line]
    assert lines == [
        "with context.expect_page() as opened:",
        "page = opened.value",
        "page = context.new_page()",
        "page = context.pages[0]",
        "page = context.pages[-1]",
        "page = context.pages[0]",
    ]


def test_addresses_of_the_start_site_move_with_the_given_one(store):
    script = script_of(store, Goto(url="http://127.0.0.1:1/next?a=1"), Goto(url="https://example.org/x"))
    assert 'page.goto(urljoin(start, "/next?a=1"))' in script
    assert 'page.goto("https://example.org/x")' in script
    assert "from urllib.parse import urljoin" in script


def test_what_lies_in_a_frame_is_found_in_it(store):
    element = Element(ref=1, role="button", name="Go", frame=1, box=Box(x=0, y=0, width=9, height=9))
    frames = (PageFrame(id="a", url="http://127.0.0.1:1/"), PageFrame(id="b", url="http://127.0.0.1:1/in"))
    seen = Observation(url="http://127.0.0.1:1/", elements=(element,), frames=frames)
    script = script_of(store, (Click(target=RefTarget(ref=1)), None, seen))
    assert 'frame(page, url=urljoin(start, "/in")).get_by_role("button", name="Go", exact=True)' in script


def test_an_option_is_named_by_the_label_that_the_page_had(store):
    options = (Option(label="Oslo", value="o", selected=True), Option(label="Rome", value="r"))
    element = Element(ref=1, role="listbox", name="To", options=options, box=Box(x=0, y=0, width=9, height=9))
    seen = Observation(url="http://127.0.0.1:1/", elements=(element,))
    script = script_of(store, (Select(target=RefTarget(ref=1), option="rome"), None, seen))
    assert '.select_option(label=["Oslo", "Rome"])' in script


def test_dialogs_are_answered_as_the_run_answered_them(store):
    asked = Acted(
        effect="page action",
        outcome="done",
        events=(BrowserEvent(kind="dialog", text='The page asked (confirm): "?"; it was dismissed.'),),
    )
    assert "dialog.dismiss()" in script_of(store, (Press(keys="a"), asked))
    assert "dialog" not in script_of(store, Press(keys="a"))


def test_the_answer_and_actions_that_are_not_of_the_page_are_comments(store):
    body = body_of(
        script_of(
            store,
            (Named(name="find_flight"), Acted(effect="push", outcome="done")),
            (Stop(answer="42"), Acted(effect="stop", outcome="done")),
        )
    )
    assert "# Nothing is done in the page: push." in body
    assert '# The agent stopped, with the answer "42".' in body


def test_a_page_that_only_backstep_serves_is_said_in_the_header(store):
    script = export_playwright(store, write_run(store))
    docstring = " ".join(ast.get_docstring(ast.parse(script)).split())
    assert "no command does this alone" in docstring
    assert "--url" in docstring


def test_typing_replaces_or_goes_behind_what_is_there(store):
    script = script_of(
        store,
        Type(target=RefTarget(ref=1), text='a "b"\n', enter=True),
        Type(target=RefTarget(ref=1), text="c", append=True),
    )
    assert r'"a \"b\"\n")' in script
    assert 'page.keyboard.press("Enter")' in script
    assert '"c", append=True)' in script


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(action=of(Action), thought=of(str))
def test_whatever_was_done_and_thought_the_script_is_python(store, action, thought):
    run = store.begin_run(start(thought))
    store.begin_step(run, 1)
    for record in (
        Observed(observation=page("Save", thought)),
        Decided(proposal=Proposal(action=action, thought=thought)),
        Reviewed(origin="person", action=action, thought=thought, edited=True),
        Acted(effect="page action", outcome="done", xpath=thought, target=thought, message=thought),
    ):
        store.save_phase(run, 1, record)
    ast.parse(export_playwright(store, run).encode(errors="replace"))


def test_a_run_that_is_not_there_is_refused(store):
    with pytest.raises(TraceError, match="no run 9"):
        export_playwright(store, 9)


def test_answers_that_were_recorded_are_given_to_the_questions_that_come_next(store):
    script = script_of(
        store, AnswerDialog(answer="dismiss"), AnswerDialog(answer="accept", text="Ada"), Press(keys="a")
    )
    assert "answers.append(None)" in script
    assert 'answers.append("Ada")' in script
    assert 'context.on("dialog", answer)' in script
    compile(script, "script", "exec")


def test_what_a_person_did_and_was_recorded_is_no_warning(store):
    run = write(store, Press(keys="a"))
    url = "http://127.0.0.1:1/"
    for before, after in ((url, ""), ("", f"1 recorded, at {url}")):
        store.save_intervention(
            Intervention(run=run, step=1, kind="handover", who="person", when=1.0, before=before, after=after)
        )
    assert "warn(" not in body_of(export_playwright(store, run))


def test_an_element_of_a_frame_by_xpath_is_found_through_its_frame(store):
    action = Click(target=XPathTarget(xpath="/html/iframe >> //button"))
    assert 'page.locator("xpath=/html/iframe").content_frame.locator("xpath=//button").click()' in script_of(
        store, action
    )
