"""Completion: the words of each kind of file come from its schema and what is loaded, and only what fits is offered."""

import pytest

from core.agent.resources import AgentResources, agent_resources_of
from core.debugger.editing.words import (
    Word,
    fitting,
    keys_of,
    words_of_actions,
    words_of_exemplar,
    words_of_file,
)
from core.schema.exemplar import Draft
from core.settings.settings import FileSettings

SPACE = '[[state]]\nname = "home"\n\n[[state.action]]\nname = "find"\nleads_to = ["'
FRONT = '+++\nactions = ["click"]\n+++\n\n'


@pytest.fixture(scope="module")
def resources() -> AgentResources:
    return agent_resources_of()


def names(words, language: str, before: str, *, asked: bool = False) -> set[str]:
    return {word.name for word in fitting(words, language, before, asked=asked)}


@pytest.mark.parametrize(
    ("kind", "language", "before", "some"),
    [
        ("state_spaces", "toml", "ti", {"title"}),
        ("state_spaces", "toml", "[[state]]\nmu", {"must", "must_not"}),
        ("state_spaces", "toml", SPACE + "h", {"home"}),
        ("state_spaces", "toml", '[[state.action]]\ndoes = [\n  "cl', {"click", "click_at", "close_tab"}),
        ("state_spaces", "toml", "[state.ac", {"state.action", "state.action.parameter"}),
        ("presets", "toml", 'space = "au', {"auto"}),
        ("presets", "toml", 'space = "sh', {"shop"}),
        ("presets", "toml", '[judgement]\nmode = "fa', {"fast"}),
        ("presets", "toml", '[prompts]\nuser = "plain/u', {"plain/user.j2"}),
        ("presets", "toml", "[sampling.decide]\ntem", {"temperature"}),
        ("policies", "markdown", "+++\ndes", {"description"}),
        ("policies", "markdown", '+++\npolicies = ["search_s', {"search_shop"}),
        ("policies", "markdown", FRONT + "# Ins", {"Instruction"}),
        ("policies", "markdown", FRONT + '{% if permitted("no', {"note"}),
        ("policies", "markdown", FRONT + "{% if per", {"permitted"}),
        ("prompts", "jinja", "{{ obj", {"objective"}),
        ("prompts", "jinja", "{{ wri", {"written"}),
        ("prompts", "jinja", '{% include "tur', {"turn.j2"}),
    ],
)
def test_names_of_schemas_and_loaded_files_are_offered_where_they_fit(
    resources, kind, language, before, some
):
    assert some <= names(words_of_file(kind, before, resources), language, before)


@pytest.mark.parametrize(
    ("kind", "language", "before"),
    [
        ("state_spaces", "toml", "mu"),  # a key of states, above the first of them
        ("state_spaces", "toml", "title = ti"),
        ("state_spaces", "toml", "[[state]]\ninstruction = '''\nmu"),
        ("presets", "toml", 'mode = "fa'),
        ("policies", "markdown", FRONT + "des"),
        ("policies", "markdown", FRONT + "Then cli"),
        ("prompts", "jinja", "the obj"),
        ("prompts", "jinja", "{{ task }} obj"),
        ("prompts", "jinja", "{# obj"),
        ("prompts", "jinja", "{{ objective"),
        ("settings", "toml", "l"),
    ],
)
def test_nothing_is_offered_elsewhere(resources, kind, language, before):
    assert names(words_of_file(kind, before, resources), language, before) == set()


def test_asked_for_all_that_fit_are_listed_in_prose_too(resources):
    words = words_of_file("policies", "", resources)
    assert {"click", "search_shop"} <= names(words, "markdown", FRONT + "Then ", asked=True)
    assert names(words, "markdown", FRONT + "Then ") == set()


def test_a_key_says_what_it_is_for():
    (word,) = fitting(keys_of(FileSettings), "toml", "max_llm")
    assert (word.name, word.doc) == ("max_llm_calls", "LLM calls of one trial.")


def test_inherited_keys_say_it_too(resources):
    (word,) = fitting(words_of_file("presets", "", resources), "toml", "[memory]\nthres")
    assert "not used" in word.doc


def test_an_action_is_offered_with_how_it_is_written():
    (word,) = fitting(words_of_actions(("select_item", "hover")), "text", "ho")
    assert word.doc.startswith("hover [target]")
    assert names(words_of_actions(("select_item",)), "text", "click sel") == set()


def test_an_exemplar_has_its_keys_actions_and_the_families_there_are():
    words = words_of_exemplar(("book-flight",))
    assert set(Draft.model_fields) <= names(words, "toml", "", asked=True)
    assert names(words, "toml", 'family = "b') == {"book-flight"}
    assert names(words, "toml", '[[steps]]\nactions = ["hov') == {"hover"}
    assert names(words, "toml", '[[steps]]\nthought = "hov') == set()


def test_a_name_that_is_written_whole_is_offered_only_beside_longer_ones():
    words = tuple(Word(name=name, kind="key") for name in ("state", "states"))
    assert names(words, "toml", "state") == {"state", "states"}
    assert names(words, "toml", "states") == set()
