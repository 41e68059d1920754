"""The examples of the sites' policies show what the bundled sites show."""

import re

import pytest

from core.agent.policies.catalogue import POLICIES, Policies
from core.storage.resources import RESOURCES

SITES = RESOURCES / "sites"
FIXED = ("button", "searchbox", "textbox", "combobox", "radiogroup", "group", "navigation")
"""Roles whose names the sites fix, other than those of items, flights and passengers."""


def texts_of(site: str) -> str:
    files = [
        path for path in (SITES / site).rglob("*.*") if path.suffix in (".js", ".jinja", ".toml", ".html")
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


@pytest.mark.parametrize("site", ["shop", "airline"])
def test_the_labels_in_the_examples_are_those_of_the_site(site):
    texts = texts_of(site)
    policies = Policies((POLICIES,))
    found = 0
    for id in policies.names():
        if not id.startswith(f"{site}/"):
            continue
        for example in policies.get(id).examples:
            for role, name in re.findall(r'\] (\w+) "([A-Z][^"]*)"', example.observation):
                if role not in FIXED:
                    continue
                found += 1
                quoted = (f'"{name}"', f">{name}<")
                assert any(one in texts for one in quoted), f'{id}: {role} "{name}" is not in the site'
    assert found > 10
