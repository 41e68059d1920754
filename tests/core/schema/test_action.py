import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.schema.action import (
    ACTION,
    ACTIONS,
    Check,
    Click,
    ClickAt,
    DoubleClick,
    Drag,
    FocusTarget,
    GoBack,
    Goto,
    Note,
    Press,
    RefTarget,
    RightClick,
    RoleTarget,
    Scroll,
    Select,
    SelectText,
    Stop,
    Type,
    Upload,
    XPathTarget,
    parse_target,
)
from core.schema.action_text import parse_action, usage
from core.schema.errors import ActionSyntaxError

NAMED = st.sampled_from(
    ["text=", "Optional: ", "answer :", "lacked = ", "id=", "option=", "path=", "enter=1", "("]
)
ANY_TEXT = (
    st.text()
    | st.text(alphabet='[]\\"=/ \n\tab01', max_size=12)
    | st.builds("{}{}".format, NAMED, st.text(alphabet=" :=x[]\n", max_size=5))
)
TARGETS = st.one_of(
    st.builds(RefTarget, ref=st.integers(0, 10**9 - 1)),
    st.builds(RoleTarget, role=st.from_regex(r"[a-z]+(-[a-z]+)*", fullmatch=True), name=ANY_TEXT),
    st.builds(XPathTarget, xpath=ANY_TEXT.filter(bool)),
    st.just(FocusTarget()),
)
PLACES = st.just("") | st.builds("{},{}".format, *[st.floats(0, 1).map(lambda part: f"{part:.5f}")] * 2)
FIELDS = {
    "target": TARGETS,
    "to": TARGETS,
    "text": ANY_TEXT,
    "answer": ANY_TEXT,
    "lacked": st.none() | ANY_TEXT,
    "option": ANY_TEXT,
    "path": ANY_TEXT.filter(bool),
    "keys": ANY_TEXT.filter(bool),
    "url": ANY_TEXT.filter(str.strip),
    "direction": st.sampled_from(["up", "down", "left", "right"]),
    "index": st.integers(0, 10**6),
    "seconds": st.floats(0, 30, allow_nan=False),
    "enter": st.booleans(),
    "append": st.booleans(),
    "checked": st.booleans(),
    "selected": st.booleans(),
    "at": PLACES,
    "from_at": PLACES,
    "to_at": PLACES,
    "x": st.integers(0, 99_999),
    "y": st.integers(0, 99_999),
    "nth": st.integers(0, 10**6),
}
HELD = st.lists(st.sampled_from(["Control", "Shift", "Alt", "Meta"]), unique=True).map("+".join)
OPTIONAL = {("scroll", "target"): st.none() | TARGETS, ("click", "keys"): HELD}
OPTIONAL["answer_dialog", "answer"] = st.sampled_from(["accept", "dismiss"])
OPTIONAL["answer_dialog", "text"] = st.none() | ANY_TEXT


def actions(kind: str) -> st.SearchStrategy:
    cls = ACTIONS[kind]
    fields = {name: OPTIONAL.get((kind, name), FIELDS[name]) for name in cls.model_fields if name != "kind"}
    return st.builds(cls, **fields)


def test_several_files_stand_in_brackets_of_their_own():
    several = parse_action(r"upload [3] [/a b.txt] [c \[2\].txt]")
    assert isinstance(several, Upload)
    assert several.paths == ("/a b.txt", "c [2].txt")
    assert str(several) == r"upload [3] [/a b.txt] [c \[2\].txt]"
    assert parse_action("upload [3] [/a]") == Upload(target=RefTarget(ref=3), path="/a")
    assert usage("upload") == "upload [target] [path] [optional: path…]"


@pytest.mark.parametrize("kind", list(ACTIONS))
def test_every_action_is_read_back_from_its_own_text(kind):
    @given(actions(kind))
    def check(action):
        assert parse_action(str(action)) == action

    check()


@pytest.mark.parametrize("kind", list(ACTIONS))
def test_every_action_is_read_back_from_its_json(kind):
    @settings(max_examples=10)
    @given(actions(kind))
    def check(action):
        assert ACTION.validate_json(ACTION.dump_json(action)) == action

    check()


@given(TARGETS)
def test_every_target_is_read_back_from_its_own_text(target):
    assert parse_target(str(target)) == target


GARBAGE = st.text(alphabet=st.characters()) | st.builds(
    "{}{}".format,
    st.sampled_from([*ACTIONS, "klick", "double click", ""]),
    st.text(alphabet=st.characters(codec=None) | st.sampled_from('[]\\"= /12focus\ud800'), max_size=30),
)


@given(GARBAGE)
def test_garbage_is_refused_with_a_syntax_error_that_can_be_stored(text):
    said = ""
    try:
        action = parse_action(text)
    except ActionSyntaxError as error:
        said = str(error)
    else:
        assert parse_action(str(action)) == action
    assert len(said.encode()) < 2000


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("click [12]", Click(target=RefTarget(ref=12))),
        ("  Click [#12] ", Click(target=RefTarget(ref=12))),
        ('click [button "Save [all]"]', Click(target=RoleTarget(role="button", name="Save [all]"))),
        ("click [xpath=//a[2]]", Click(target=XPathTarget(xpath="//a[2]"))),
        ("click [//a[@id='x']]", Click(target=XPathTarget(xpath="//a[@id='x']"))),
        ("double click [3]", DoubleClick(target=RefTarget(ref=3))),
        ("right click [3]", RightClick(target=RefTarget(ref=3))),
        ("click [3] [at=0.30, 0.7]", Click(target=RefTarget(ref=3), at="0.3,0.7")),
        ("click [3] [x=0.3 y=0.7]", Click(target=RefTarget(ref=3), at="0.3,0.7")),
        ("click [3] [keys=ctrl + shift]", Click(target=RefTarget(ref=3), keys="Control+Shift")),
        ("click [3] [modifiers=Meta] [at=1,.5]", Click(target=RefTarget(ref=3), at="1,0.5", keys="Meta")),
        ("click_at [ 40 ] [7]", ClickAt(x=40, y=7)),
        ("select [7] [Oslo] [selected=no]", Select(target=RefTarget(ref=7), option="Oslo", selected=False)),
        ("select_text [7] [at=1,1]", SelectText(target=RefTarget(ref=7), text="at=1,1")),
        ("select_text [7] [to be] [nth=2]", SelectText(target=RefTarget(ref=7), text="to be", nth=2)),
        (
            "drag [3] [3] [from=0.1,0.5] [to=0.9,0.5]",
            Drag(target=RefTarget(ref=3), to=RefTarget(ref=3), from_at="0.1,0.5", to_at="0.9,0.5"),
        ),
        ("go-back", GoBack()),
        ("back", GoBack()),
        ("type [3] [enter=1]", Type(target=RefTarget(ref=3), text="enter=1")),
        ("type [3] [x] [press_enter_after=1]", Type(target=RefTarget(ref=3), text="x", enter=True)),
        ("type [3] [x] [enter=true]", Type(target=RefTarget(ref=3), text="x", enter=True)),
        ("type [3] [x] [enter=false]", Type(target=RefTarget(ref=3), text="x")),
        ("type [focus] [ x ]", Type(target=FocusTarget(), text=" x ")),
        ("type [2] [abc] [1]", Type(target=RefTarget(ref=2), text="abc", enter=True)),
        ("type [2] [abc] [0]", Type(target=RefTarget(ref=2), text="abc")),
        ("type [2] [1] [1]", Type(target=RefTarget(ref=2), text="1", enter=True)),
        ("type [2] [abc] [append=1] [1]", Type(target=RefTarget(ref=2), text="abc", enter=True, append=True)),
        ("check [3] [0]", Check(target=RefTarget(ref=3), checked=False)),
        ("check [3] [checked=false]", Check(target=RefTarget(ref=3), checked=False)),
        ("check [3]", Check(target=RefTarget(ref=3), checked=True)),
        ("scroll [Down]", Scroll(direction="down")),
        ("scroll down", Scroll(direction="down")),
        ("Scroll Up [7]", Scroll(direction="up", target=RefTarget(ref=7))),
        ("scroll [direction=down]", Scroll(direction="down")),
        ("press [ Enter ]", Press(keys="Enter")),
        ("press [ ]", Press(keys=" ")),
        ("goto [ https://example.org ]", Goto(url="https://example.org")),
        ("drag [3] [9]", Drag(target=RefTarget(ref=3), to=RefTarget(ref=9))),
        ("stop", Stop()),
        *((f"stop [42] [{word}]", Stop(answer="42")) for word in ("nothing", "None.", "n/a", " ", "")),
        ("stop [42] [none of the two pages]", Stop(answer="42", lacked="none of the two pages")),
        (r"stop [a \] b]", Stop(answer="a ] b")),
        ("type [1] [C:\\dir]", Type(target=RefTarget(ref=1), text="C:\\dir")),
        ("stop [lacked: the dates]", Stop(lacked="the dates")),
        ("stop [lacked=the dates]", Stop(lacked="the dates")),
        ("stop [answer=42]", Stop(answer="42")),
        ("stop [Answer: 42] [Lacked: none]", Stop(answer="42")),
        ("stop [optional: 42]", Stop(answer="42")),
        ("stop [] [what is missing: the date]", Stop(lacked="what is missing: the date")),
        ("stop [the answer: 42]", Stop(answer="the answer: 42")),
        ("stop.", Stop()),
        ("STOP 42", Stop(answer="42")),
        ('stop "two words"', Stop(answer="two words")),
        ('"stop [42]"', Stop(answer="42")),
        ("type [5] [abc] [optional: enter=1]", Type(target=RefTarget(ref=5), text="abc", enter=True)),
        ("type [5] [abc] [Optional: append = yes]", Type(target=RefTarget(ref=5), text="abc", append=True)),
        ("type [5] [abc] [enter]", Type(target=RefTarget(ref=5), text="abc", enter=True)),
        ("type [target=5] [text=abc]", Type(target=RefTarget(ref=5), text="abc")),
        ("type [text=abc] [target=5]", Type(target=RefTarget(ref=5), text="abc")),
        ("type [5] [text: abc]", Type(target=RefTarget(ref=5), text="abc")),
        ("type [5] [Text: abc]", Type(target=RefTarget(ref=5), text="Text: abc")),
        ("type [5] [a=b]", Type(target=RefTarget(ref=5), text="a=b")),
        ('type [5] (textbox "Name") [abc].', Type(target=RefTarget(ref=5), text="abc")),
        ("select [7] [option=Oslo]", Select(target=RefTarget(ref=7), option="Oslo")),
        ("drag [3] [to=9]", Drag(target=RefTarget(ref=3), to=RefTarget(ref=9))),
        ('click [5] (button "Save")', Click(target=RefTarget(ref=5))),
        ('click [5] (button "Save [all] (2)")', Click(target=RefTarget(ref=5))),
        ('click [5] button "Save".', Click(target=RefTarget(ref=5))),
        ('click [[5] button "Save"]', Click(target=RefTarget(ref=5))),
        ("click [id=5]", Click(target=RefTarget(ref=5))),
        ("click [5].", Click(target=RefTarget(ref=5))),
        ("click 12", Click(target=RefTarget(ref=12))),
        ("CLICK 5", Click(target=RefTarget(ref=5))),
        ("CLICK 5.", Click(target=RefTarget(ref=5))),
        ("DOUBLE_CLICK [5]", DoubleClick(target=RefTarget(ref=5))),
        ("double click 5", DoubleClick(target=RefTarget(ref=5))),
        ('click button "Save"', Click(target=RoleTarget(role="button", name="Save"))),
        ("click //a[2]", Click(target=XPathTarget(xpath="//a[2]"))),
        ("click(5)", Click(target=RefTarget(ref=5))),
        ('TYPE 5 "x"', Type(target=RefTarget(ref=5), text="x")),
        ('type 5 "two \\"words\\"" enter=1', Type(target=RefTarget(ref=5), text='two "words"', enter=True)),
        ("type(5, 'x', enter=True)", Type(target=RefTarget(ref=5), text="x", enter=True)),
        ("SELECT 7 Oslo", Select(target=RefTarget(ref=7), option="Oslo")),
        ("press Control+a", Press(keys="Control+a")),
        ("Press [keys: Enter].", Press(keys="Enter")),
        ("goto https://example.org/a?b=c.", Goto(url="https://example.org/a?b=c")),
        ("scroll down.", Scroll(direction="down")),
        ("go_back.", GoBack()),
        ("note_down [x]", Note(text="x")),
    ],
)
def test_what_an_llm_writes_is_read_leniently(text, action):
    assert parse_action(text) == action


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("klick [3]", "did you mean click?"),
        ("tpye [3] [x]", "did you mean type?"),
        ("doubleklick [3]", "did you mean double_click?"),
        ("frobnicate [3]", "there are click, double_click"),
        ("", "begin with its name"),
        ("[3]", "begin with its name"),
        ("click", "lacks target"),
        ("click on the button", "outside its brackets"),
        ("type 3 two words", "outside its brackets"),
        ("stop here", "outside its brackets"),
        ("click [3] or [4]", "outside its brackets"),
        ("click [12", "not closed"),
        ("click [12] [13]", "has too many arguments: click [target]"),
        ("click [Save]", "names no element"),
        ("scroll sideways", "cannot use direction"),
        ("type [3] [x] [1] [1]", "has too many arguments"),
        ("type [3] [x] [2]", "has too many arguments"),
        ("scroll [sideways]", "cannot use direction"),
        ("click [3] [at=2,0.5]", "two fractions from 0 to 1"),
        ("click [3] [at=middle]", "two fractions from 0 to 1"),
        ("click [3] [keys=a]", "the keys that can be held are Alt, Control, Meta, Shift"),
        ("click_at [5]", "lacks y: click_at [x] [y]"),
        ("click_at [-5] [1]", "cannot use x"),
        ("wait [99]", "cannot use seconds"),
        ("wait [nan]", "cannot use seconds"),
        ("tab_focus [-1]", "cannot use index"),
        ("goto [ ]", "cannot use url"),
        ("type [3]", "lacks text: type [target] [text] [optional: enter=0|1] [optional: append=0|1]"),
    ],
)
def test_a_text_that_is_no_action_says_what_is_wrong(text, said):
    with pytest.raises(ActionSyntaxError) as refused:
        parse_action(text)
    assert said in str(refused.value)


def test_usage_marks_what_may_be_left_out():
    assert usage("scroll") == "scroll [up|down|left|right] [optional: target]"
    assert usage("stop") == "stop [answer] or stop [] [what is missing]"
    assert usage("stop", ["answer"]) == "stop [answer]"


def test_usage_names_every_field_of_every_action():
    for kind, cls in ACTIONS.items():
        assert usage(kind).split(" ")[0] == kind
        assert {*cls.fields, *cls.options} == set(cls.model_fields) - {"kind"}
