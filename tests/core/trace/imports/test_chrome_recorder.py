import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from core.trace.imports.chrome_recorder import read_chrome_recording
from tests.core.trace.imports.import_files import on, recording


def actions(*steps):
    imported = read_chrome_recording(recording(*steps))
    assert imported.faulty == ()
    return [str(step.action) for step in imported.steps]


def faults(*steps):
    return {one.position: one.why for one in read_chrome_recording(recording(*steps)).faulty}


def test_the_first_address_is_the_start_and_its_title_the_instruction():
    imported = read_chrome_recording(recording({"type": "click", **on('aria/Lamps[role="link"]')}))
    assert (imported.start_url, imported.instruction) == ("https://shop.example/", "Find a lamp")
    assert imported.origin == "person"
    assert [one.position for one in imported.left_out] == ["steps[0]", "steps[1]"]
    (step,) = imported.steps
    assert (step.position, step.url, step.title) == ("steps[2]", "https://shop.example/", "Shop")


PAY = (
    r"click [xpath=//button\[@class and contains(@class, 'pay')"
    r" and contains(concat(' ', normalize-space(@class), ' '), ' pay ')\]]"
)


@pytest.mark.parametrize(
    ("selectors", "written", "words"),
    [
        (("#a", 'aria/Go[role="button"]', "xpath///*[@id='a']"), r'click [button "Go"]', 'button "Go"'),
        (("aria/Go", "#a", "xpath//html/body/a"), "click [xpath=/html/body/a]", '"Go"'),
        (("#a-b",), r"click [xpath=//*\[@id = 'a-b'\]]", "#a-b"),
        (
            ("text/Go on",),
            r'click [xpath=//*\[normalize-space()="Go on" and not(*\[normalize-space()="Go on"\])\]]',
            '"Go on"',
        ),
        (("button.pay",), PAY, "button.pay"),
        (("pierce/button.pay",), PAY, "pierce/button.pay"),
        (("text/Go", "button.pay", "#a"), r"click [xpath=//*\[@id = 'a'\]]", '"Go"'),
        ((r'aria/[name="Go"][role="button"]', "#a"), 'click [button "Go"]', 'button "Go"'),
    ],
)
def test_an_element_is_named_by_what_a_page_can_be_asked_for(selectors, written, words):
    imported = read_chrome_recording(recording({"type": "click", **on(*selectors)}))
    (step,) = imported.steps
    assert (str(step.action), step.target) == (written, words)


def test_every_kind_of_step_that_acts_becomes_an_action():
    field = on("xpath//html/body/input")
    assert actions(
        {"type": "doubleClick", **field},
        {"type": "hover", **field},
        {"type": "change", **field, "value": "desk lamp"},
        {"type": "change", **on("xpath//html/body/select[1]"), "value": "oslo"},
        {"type": "scroll", "x": 0, "y": 300},
        {"type": "scroll", "x": 0, "y": 100},
        {"type": "navigate", "url": "https://shop.example/cart"},
        {"type": "click", **field, "button": "secondary"},
        {"type": "close"},
    ) == [
        "double_click [xpath=/html/body/input]",
        "hover [xpath=/html/body/input]",
        "type [xpath=/html/body/input] [desk lamp]",
        r"select [xpath=/html/body/select\[1\]] [oslo]",
        "scroll [down]",
        "scroll [up]",
        "goto [https://shop.example/cart]",
        "right_click [xpath=/html/body/input]",
        "close_tab",
    ]


def test_an_element_with_a_name_alone_is_found_by_it():
    (step,) = read_chrome_recording(recording({"type": "click", **on("aria/Buy now")})).steps
    assert step.target == '"Buy now"'
    page = html.fromstring(
        "<body><label for=x>Buy now</label><p><button><b>Buy now</b></button><input id=x></p>"
        "<i title='Buy now'></i></body>"
    )
    assert [one.tag for one in page.xpath(step.xpath)] == ["b"]
    labelled = html.fromstring("<body><label for=x>Buy now</label><input id=x></body>")
    assert [one.tag for one in labelled.xpath(step.xpath)] == ["input"]


@pytest.mark.parametrize(
    ("selectors", "written"),
    [
        ([["#host", "#in"], ["pierce/#in"], ["aria/In"]], "click_by_selector [#host >>> #in]"),
        ([["aria/Host", 'aria/Save[role="button"]'], ["#host", "#in"]], 'click [button "Save"]'),
        ([["a:hover"]], "click_by_selector [a:hover]"),
    ],
)
def test_what_lies_in_a_shadow_root_or_has_no_xpath_keeps_its_selector(selectors, written):
    (step,) = read_chrome_recording(recording({"type": "click", "selectors": selectors})).steps
    assert str(step.action) == written
    assert ("cannot be repeated" in step.message) == written.startswith("click_by")


def test_a_step_in_a_frame_says_which():
    change = {"type": "change", **on('aria/Card[role="textbox"]', "#card"), "frame": [1, 0], "value": "4"}
    (step,) = read_chrome_recording(recording(change)).steps
    assert (step.target, step.frames) == ('textbox "Card" in frame 1, 0', (1, 0))


def test_other_buttons_and_held_keys_are_not_lost():
    field = on("#a")
    imported = read_chrome_recording(
        recording(
            {"type": "keyDown", "key": "Shift"},
            {"type": "click", **field, "button": None},
            {"type": "doubleClick", **field},
            {"type": "doubleClick", **field, "button": "secondary"},
        )
    )
    target = r"[xpath=//*\[@id = 'a'\]]"
    assert [(str(step.action), step.message) for step in imported.steps] == [
        (f"click {target} [keys=Shift]", ""),
        (f"double_click {target}", "Shift was held."),
        (r"double_secondary_click [xpath=//*\[@id = 'a'\]]", "Shift was held."),
    ]


def test_keys_that_are_held_make_a_chord_until_they_are_let_go():
    assert actions(
        {"type": "keyDown", "key": "Control"},
        {"type": "keyDown", "key": "a"},
        {"type": "keyUp", "key": "a"},
        {"type": "keyUp", "key": "Control"},
        {"type": "keyDown", "key": "Enter"},
        {"type": "keyUp", "key": "Enter"},
    ) == ["press [Control+a]", "press [Enter]"]


def test_the_address_follows_what_the_recording_asserts():
    imported = read_chrome_recording(
        recording(
            {
                "type": "click",
                **on("text/Lamps"),
                "assertedEvents": [{"type": "navigation", "url": "https://shop.example/lamps", "title": "L"}],
            },
            {"type": "click", **on("text/Desk")},
            {"type": "click", **on("text/Buy"), "target": "https://pay.example/"},
        )
    )
    assert [step.url for step in imported.steps] == [
        "https://shop.example/",
        "https://shop.example/lamps",
        "https://pay.example/",
    ]


def test_what_only_waits_or_sets_up_is_left_out_with_the_reason():
    imported = read_chrome_recording(
        recording({"type": "waitForElement", **on("#x")}, {"type": "customStep", "name": "n"})
    )
    assert [one.why for one in imported.left_out][2:] == [
        "it only waits",
        "it belongs to an extension of the recorder",
    ]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("click", "it has no type"),
        ({"type": "klick"}, "there is no step type 'klick'"),
        ({"type": "click"}, "a click needs selectors"),
        ({"type": "change", **on("#a")}, "a change needs value"),
        ({"type": "navigate", "url": 7}, "url: "),
        ({"type": "click", "selectors": [[]]}, "its selectors are empty"),
        ({"type": "click", "selectors": [[""]]}, "its selectors are empty"),
        ({"type": "click", **on("xpath/")}, "its selectors are empty"),
        ({"type": "click", **on("#a"), "frame": ["x"]}, "frame.0: "),
        ({"type": "keyDown", "key": 3}, "key: "),
        ({"type": "keyDown", "key": ""}, "keys: "),
        ({"type": "navigate", "url": " "}, "url: "),
    ],
)
def test_a_faulty_entry_is_reported_with_its_position(step, said):
    found = faults({"type": "click", **on("text/Go")}, step)
    assert list(found) == ["steps[3]"]
    assert said in found["steps[3]"]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(["click", "change", "keyDown", "keyUp", "scroll", "navigate", "close", "hover"])
SELECTORS = st.lists(JSON | st.lists(st.text(max_size=9).map(lambda text: f"aria/{text}"), max_size=2))


@given(
    steps=st.lists(
        JSON
        | st.fixed_dictionaries(
            {"type": KINDS},
            optional={
                "selectors": SELECTORS,
                "value": JSON,
                "key": JSON,
                "url": JSON,
                "x": JSON,
                "assertedEvents": JSON,
            },
        ),
        max_size=3,
    )
)
def test_whatever_an_entry_holds_it_is_read_or_reported(steps):
    imported = read_chrome_recording({"title": "x", "steps": steps})
    assert len(imported.steps) + len(imported.left_out) + len(imported.faulty) == len(steps)


@pytest.mark.parametrize(
    "selectors",
    [
        ("aria/Password", "#pw"),
        ("aria/Anything", "#login-password"),
        ("input[type='password']",),
        ("xpath//html/body/form/input[@autocomplete='current-password']",),
        ("pierce/[name=passwd]",),
    ],
)
@pytest.mark.parametrize("password", ["hunter2", "test"])
def test_a_password_is_bullets_also_where_a_selector_quotes_it(selectors, password):
    step = {"type": "change", **on(*selectors, f"text/{password}"), "value": password}
    imported = read_chrome_recording(recording(step))
    assert imported.steps[0].action.text == "•" * len(password)
    assert password not in imported.model_dump_json()


def test_a_password_in_a_shadow_root_is_bullets():
    selectors = [["text/a", "#password"], ["#password", "text/a"]]
    assert actions({"type": "change", "selectors": selectors, "value": "a"}) == [
        "change_by_selector [text/a >>> #password] [•]"
    ]


def test_a_password_is_hidden_wherever_else_the_recording_has_it():
    imported = read_chrome_recording(
        recording(
            {"type": "click", **on("text/hunter2", "#go")},
            {"type": "change", **on("aria/Password", "#go"), "value": "hunter2"},
            {"type": "navigate", "url": "https://shop.example/?pw=hunter2"},
            title="Log in with hunter2",
        )
    )
    assert len(imported.steps) == 3
    assert "hunter2" not in imported.model_dump_json()


@pytest.mark.parametrize("selector", ["#city", "#password-form > input.email", "aria/Forgot password?"])
def test_what_is_typed_into_other_fields_stays(selector):
    assert actions({"type": "change", **on(selector, "xpath//a/input"), "value": "Oslo"})[0].endswith(
        "[Oslo]"
    )
