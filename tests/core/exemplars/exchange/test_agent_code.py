import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.exemplars.exchange.agent_code import MOST_ACTIONS, read_code, write_code
from core.schema.action import Click, FocusTarget, Hover, Press, RefTarget, Type, XPathTarget
from core.schema.action_text import parse_action
from core.trace.imports.records import FaultyError


@pytest.mark.parametrize(
    ("code", "actions"),
    [
        ("agent.click_xpath('//a[1]')", (r"click [xpath=//a\[1\]]",)),
        ("agent.click_xpath(\"//*[@data-wob_ref='12']\")", ("click [12]",)),
        ("agent.movemouse('//b')", ("hover [xpath=//b]",)),
        ("agent.type('a [b]')", (r"type [focus] [a \[b\]] [append=1]",)),
        ("agent.press('arrowdown')\nagent.press('command+v')", ("press [ArrowDown]", "press [Control+v]")),
        (
            "agent.click_option(\"//option[text()='Oslo']\")",
            (r"select [xpath=//option\[text()='Oslo'\]/..] [Oslo]",),
        ),
        ("for _ in range(2):\n    agent.press('enter')", ("press [Enter]", "press [Enter]")),
        (
            "for name in ['a', 'b']:\n    agent.type(f'{name}!')",
            ("type [focus] [a!] [append=1]", "type [focus] [b!] [append=1]"),
        ),
        (
            "by = 3 - 5\nkey = 'arrowleft' if by < 0 else 'arrowright'\nfor _ in range(abs(by)):\n    agent.press(key)",
            ("press [ArrowLeft]", "press [ArrowLeft]"),
        ),
    ],
)
def test_calls_of_the_agent_become_actions(code, actions):
    read = read_code(code)
    assert (read.actions, read.remarks) == (actions, ())
    assert [str(parse_action(one)) for one in read.actions] == list(actions)


def test_comments_are_the_thought():
    assert (
        read_code("# First this.\nagent.press('enter')  # then '#that'").thought
        == "First this.\nthen '#that'"
    )


@pytest.mark.parametrize(
    "code",
    [
        "__import__('os').system('echo')",
        "agent.click_xpath(open('/etc/passwd').read())",
        "while True:\n    agent.press('enter')",
        "agent.fly('away')",
        "agent.press('a' * 10**9)",
        "for _ in range(10**5):\n    agent.press('enter')",
        "agent.click_xpath('//a'",
        "agent.type(''.join(chr(one) for one in [1]))",
        "a = '" + "x" * 100 + "'\nfor _ in range(40):\n    a = a + a\nagent.type(a)",
        "agent.press(" + "(" * 900 + "'enter'" + ")" * 900 + ")",
        "agent.press(" + "+".join(["'a'"] * 4000) + ")",
        "agent.press('\\ud800')",
    ],
)
def test_code_that_does_more_is_kept_as_it_is_written_and_never_run(code):
    read = read_code(code)
    assert read.actions == tuple(code.split("\n"))
    assert read.remarks


@pytest.mark.parametrize("code", ["", "# nothing", "offset = 1", "x" * 30_000])
def test_code_without_an_action_is_faulty(code):
    with pytest.raises(FaultyError):
        read_code(code)


def test_no_more_actions_are_worked_out_than_the_limit():
    calls = "agent.press('enter')\n" * (MOST_ACTIONS + 1)
    assert "more than" in read_code(calls).remarks[0]


TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
PATH = TEXT.map(lambda text: f"//a[. = '{text}']")
ACTION = st.one_of(
    st.builds(Click, target=st.builds(RefTarget, ref=st.integers(0, 10**8))),
    st.builds(Click, target=st.builds(XPathTarget, xpath=PATH)),
    st.builds(Hover, target=st.builds(XPathTarget, xpath=PATH)),
    st.builds(Type, target=st.just(FocusTarget()), text=TEXT, append=st.just(True)),
    st.builds(Press, keys=st.sampled_from(["Enter", "Space", "ArrowLeft", "Control+a", "Tab"])),
)


@given(st.lists(ACTION, min_size=1, max_size=4))
def test_what_is_written_for_the_agent_is_read_again(made):
    actions = tuple(str(one) for one in made)
    assert read_code(write_code("", actions)).actions == actions
