import pytest

from core.agent.policies.call import Call
from core.agent.policies.file import read_policy, sections
from core.schema.errors import DataError
from tests.core.agent.policies.making import GOOD, write


def test_a_policy_file_is_read_whole(tmp_path):
    path = write(tmp_path, "desk/find_order", GOOD)
    policy = read_policy(path, tmp_path)
    assert (policy.id, policy.name, policy.path) == ("desk/find_order", "find_order", path)
    assert policy.text == GOOD
    assert policy.usage() == "find_order [query]"
    assert policy.policies == ("find_order", "find_customer")
    assert policy.applies.environments == ("desk",)
    assert policy.instruction.startswith("1. Open the list.")
    assert "# Neither is this one" in policy.instruction
    assert not policy.top
    first, second = policy.examples
    assert first.title == "The list is open"
    assert first.observation == '[3] textbox "Search"\n[4] button "Go"'
    assert first.call == Call(name="type", arguments=("3", "Ada"))
    assert second.call == Call(name="find_customer", arguments=("555 0142",))
    assert GOOD.splitlines()[first.line - 1] == "## The list is open"


def test_what_is_left_out_has_its_default(tmp_path):
    policy = read_policy(write(tmp_path, "desk/rest"), tmp_path)
    assert policy.name == "rest"
    assert [one.name for one in policy.parameters] == ["objective"]
    assert (policy.actions, policy.policies, policy.examples) == (None, None, ())
    assert policy.applies.environments == ("desk",)
    assert policy.allows("drag")


def test_a_policy_in_no_folder_is_for_any_environment(tmp_path):
    policy = read_policy(write(tmp_path, "rest"), tmp_path)
    assert (policy.id, policy.applies.environments) == ("rest", ())


def test_all_may_be_said_in_words(tmp_path):
    policy = read_policy(write(tmp_path, "rest", actions='"all"', policies='"all"'), tmp_path)
    assert (policy.actions, policy.policies) == (None, None)


def test_a_policy_may_always_stop(tmp_path):
    policy = read_policy(write(tmp_path, "rest", actions='["click"]'), tmp_path)
    assert policy.allows("stop")
    assert not policy.allows("type")


def test_a_reason_may_go_over_several_lines_that_begin_with_capitals(tmp_path):
    first = read_policy(write(tmp_path, "desk/find_order", GOOD), tmp_path).examples[0]
    assert first.thought == "The field takes names.\nAda's orders are wanted, so her name goes in."


def test_the_action_of_an_example_may_be_in_quotes(tmp_path):
    action = next(line for line in GOOD.split("\n") if line.startswith("ACTION: "))
    quoted = GOOD.replace(action, f'ACTION: "{action.removeprefix("ACTION: ")}"', 1)
    plain, read = (read_policy(write(tmp_path, "desk/find_order", one), tmp_path) for one in (GOOD, quoted))
    assert read.examples[0].call == plain.examples[0].call


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    path = write(tmp_path, "desk/find_order", GOOD)
    plain = read_policy(path, tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    odd = read_policy(path, tmp_path)
    assert odd.replace(text=plain.text) == plain


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"click", "type"', '"clik", "type"', 'no action "clik"; did you mean click?'),
        ('description = "Finds', 'descripton = "Finds', 'no key "descripton"; did you mean description?'),
        ('name = "query"', 'nam = "query"', 'no key "nam" in [parameters]; did you mean name?'),
        ('name = "query"', 'name = "Query!"', '"name"'),
        ('urls = ["/orders"]', 'urls = ["/orders("]', "not a regular expression"),
        ('urls = ["/orders"]', 'urls = ["__GITLUB__"]', 'no site "GITLUB"; did you mean GITLAB?'),
        ('actions = ["click", "type"]', "actions = [", "not TOML"),
        ("# Instruction", "# Instructions", 'no heading "Instructions"; did you mean Instruction?'),
        ("# Examples", "# Exampels", 'no heading "Exampels"; did you mean Examples?'),
        ("# Examples", "# Instruction", 'two headings "Instruction"'),
        (
            "### Observation\n\n```",
            "### Observatoin\n\n```",
            'no heading "Observatoin"; did you mean Observation?',
        ),
        ("ACTION: type [3] [Ada]", "", "no ACTION line"),
        ("ACTION: type [3] [Ada]", "ACTION: type [3]", "lacks text"),
        ("ACTION: type [3] [Ada]", "ACTION: click [3]\nACTION: click [4]", "one action, not 2"),
        ("ACTION: type [3] [Ada]", "ACTION: stop [a] [b] [c]", "has too many arguments"),
    ],
)
def test_a_wrong_file_is_reported_with_file_line_and_nearest_name(tmp_path, old, new, said):
    assert GOOD.count(old) >= 1
    path = write(tmp_path, "desk/find_order", GOOD.replace(old, new, 1))
    line = GOOD[: GOOD.index(old)].count("\n") + 1
    if old.startswith("ACTION"):
        line -= 2
    with pytest.raises(DataError) as refused:
        read_policy(path, tmp_path)
    assert str(refused.value).startswith(f"{path}, line {line}: ") or "TOML" in said
    assert f"{path}, line " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "line_of", "said"),
    [
        (
            "type [3] [Ada]",
            "type [9] [Ada]",
            "## The list is open",
            "acts on [9], which its observation does not show",
        ),
        (
            "type [3] [Ada]",
            "hover [3]",
            "## The list is open",
            'uses "hover", which is not among its actions',
        ),
        (
            "find_customer [555 0142]",
            "find_custmer [555 0142]",
            "## Somebody else",
            'calls "find_custmer", which is not among its policies; did you mean find_customer?',
        ),
        ("### Reply\n\nREASON", "REASON", "## The list is open", 'the heading "### Reply" is missing'),
        ("REASON: Only a phone number is given.\n", "", "ACTION: find_customer", "no REASON line"),
    ],
)
def test_an_example_that_its_policy_could_not_follow_is_reported_at_its_line(
    tmp_path, old, new, line_of, said
):
    text = GOOD.replace(old, new)
    path = write(tmp_path, "desk/find_order", text)
    line = text[: text.index(line_of)].count("\n") + 1
    with pytest.raises(DataError) as refused:
        read_policy(path, tmp_path)
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "begins with TOML"),
        ("---\nname: x\n---\n", 1, "not with YAML"),
        ('+++\ndescription = "x"\n', 1, "has no end"),
        ('+++\ndescription = "x"\n+++\n\nJust text.\n', 4, '"# Instruction" is missing'),
        ('+++\ndescription = "x"\n+++\n\nToo early.\n# Instruction\nDo.\n', 5, 'before "# Instruction"'),
        ('+++\ndescription = "x"\n+++\n# Instruction\n\n', 4, "instruction is empty"),
        (
            '+++\ndescription = "x"\n+++\n# Instruction\nDo.\n# Examples\nloose text\n',
            6,
            "its own heading",
        ),
        ('+++\nname = "click"\ndescription = "x"\n+++\n# Instruction\nDo.\n', 2, "name of a page action"),
    ],
)
def test_a_file_without_its_parts_is_reported_where_they_are_missing(tmp_path, text, line, said):
    path = write(tmp_path, "odd", text or " ")
    with pytest.raises(DataError) as refused:
        read_policy(path, tmp_path)
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "needs words and number"),
        (("oak",), "needs number"),
        (("oak", "two"), "takes a whole number as its number"),
        ((" ", "2"), "empty words"),
        (("oak", "2", "3"), "too many"),
        (("oak", "2"), ""),
    ],
)
def test_the_arguments_of_a_call_are_checked_against_the_parameters(tmp_path, arguments, said):
    text = (
        '+++\ndescription = "x"\n[[parameters]]\nname = "words"\n[[parameters]]\nname = "number"\n'
        'type = "integer"\n+++\n# Instruction\nDo.\n'
    )
    policy = read_policy(write(tmp_path, "search", text), tmp_path)
    problem = policy.call_problem(arguments)
    assert said in problem
    assert bool(said) is bool(problem)


def test_headings_in_code_are_no_headings():
    _, found = sections("# One\n```\n# Two\n```\n~~~~\n```\n# Three\n~~~~\n# Four #\n", 10)
    assert [(one.title, one.line) for one in found] == [("One", 10), ("Four", 18)]
