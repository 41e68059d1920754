"""Arguments of policies and of states' actions: any name and any number comes back from every form of reply."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.replies import as_json, as_lines, as_tool_call
from core.schema.action import Named
from core.schema.action_space import OF_ENTRIES, Parameter, Permissible, PermissibleAction
from tests.core.llm.test_repair import read

NAMES = st.sampled_from(
    [
        "reason",
        "kind",
        "tool",
        "tool_name",
        "function",
        "how",
        "target",
        "text",
        "id",
        "Name",
        "max2",
        *sorted(OF_ENTRIES),
    ]
) | st.from_regex(r"[a-z][a-z0-9]{0,9}(_[a-z0-9]{1,9}){0,2}", fullmatch=True)


@given(NAMES, st.sampled_from(["abc", "call_it", "[1]", "go [1]", "{}", "\\", "5", "true"]))
def test_an_argument_comes_back_by_its_name_in_every_form(name, value):
    own = PermissibleAction(name="call_it", origin="policy", parameters=(Parameter(name=name),))
    permissible = Permissible(actions=(own,))
    action = Named(name="call_it", arguments=(value,))
    call = as_tool_call(action, permissible)
    thinks = json.dumps({"thought": "t", **json.loads(call.arguments)})
    by_name = str(Named(name="call_it", arguments=(f"{name}={value}",)))
    for form, text, calls in (
        ("json", as_json("t", [action], permissible), ()),
        ("json", json.dumps({"name": "call_it", "arguments": {name: value}}), ()),
        ("tools", "", [("call_it", call.arguments)]),
        ("tools", "", [("call_it", thinks)]),
        ("tools", json.dumps({"name": "call_it", "arguments": {name: value}}), ()),
        ("lines", as_lines("t", [action], permissible), ()),
        ("lines", f"ACTION: {by_name}", ()),
    ):
        proposal, _ = read(text, *calls, form=form, permissible=permissible)
        assert (proposal.action, proposal.problem) == (action, "")


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("value", [".5", "40.", "040", "+4", " 40 ", "1e2", "-3", "1_000", "٣", "9" * 400])
def test_a_number_that_a_person_writes_is_refused_or_comes_back_as_a_number(kind, value):
    own = PermissibleAction(name="call_it", origin="state", parameters=(Parameter(name="n", type=kind),))
    permissible = Permissible(actions=(own,))
    action = Named(name="call_it", arguments=(value,))
    refused = permissible.problem(action)
    assert bool(refused) == (
        value in ("1_000", "٣", "9" * 400) or (kind == "integer" and value in (".5", "40.", "1e2"))
    )
    if not refused:
        call = as_tool_call(action, permissible)
        read_back = read("", ("call_it", call.arguments), permissible=permissible)[0].action
        assert float(read_back.arguments[0]) == float(value)


@pytest.mark.parametrize("name", ["reason", "kind", *sorted(OF_ENTRIES)])
def test_the_schema_of_replies_has_it_once(name):
    own = PermissibleAction(name="call_it", origin="policy", parameters=(Parameter(name=name),))
    permissible = Permissible(actions=(own,))
    (entry,) = json.loads(as_json("t", [Named(name="call_it", arguments=("abc",))], permissible))["actions"]
    (schema,) = own.entry_schemas()
    assert list(entry) == list(schema["properties"]) == schema["required"]
    if isinstance(entry.get("arguments"), dict):
        assert entry["arguments"].keys() == schema["properties"]["arguments"]["properties"].keys()
    required = own.json_schema(thinks=True)["required"]
    assert required == list(dict.fromkeys(("thought", name)))
