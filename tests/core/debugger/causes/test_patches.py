"""Patches of causes: what is added to a list of a policy's file."""

from types import SimpleNamespace

import pytest

from core.debugger.causes.kinds.policies import with_listed


@pytest.mark.parametrize(
    ("listed", "names", "put"),
    [
        ('["click"]', ["type", "stop"], '["type", "stop", "click"]'),
        ('["click"]', ["click", "type"], '["type", "click"]'),
        ("[]", ["type", "stop"], '["type", "stop"]'),
        ('["click"]', ["click"], None),
        ("true", ["click"], None),
    ],
)
def test_a_list_gets_the_names_that_it_lacks(listed, names, put):
    text = f"+++\nactions = {listed}\n+++\n# Instruction\n\nDo [this].\n"
    facts = SimpleNamespace(files=SimpleNamespace(read=lambda _name: text))
    patch = with_listed(facts, "policies/a.md", 2, *names)
    assert (patch and text.replace(patch.find, patch.put)) == (put and text.replace(listed, put))
