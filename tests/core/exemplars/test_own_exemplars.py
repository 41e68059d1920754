"""The exemplars that come with the program, and the runs they were made of."""

import re
from collections import Counter

import pytest

from core.debugger.exemplars.scripted import Look, exemplar_of, perform
from core.exemplars.files import ExemplarFiles
from core.exemplars.index import ExemplarIndex
from core.exemplars.library.beside import numbered
from core.exemplars.retrieval import recall
from core.llm.embedding import HashedWords
from core.sandbox.running import confinement, run_parser
from core.schema.action import RefTarget
from core.schema.action_text import parse_action
from core.schema.exemplar import RecallSettings
from tests.core.exemplars.parsers import parser_of
from tests.core.exemplars.solvers import SOLVERS

OWN = ExemplarFiles().all()
FAMILIES = Counter(one.family for one in OWN)
REPLAYED = ("email-inbox", "terminal", "use-autocomplete")


def refs_in(text: str) -> set[int]:
    """Return the refs that lines of a page begin with."""
    return {int(ref) for ref in re.findall(r"^\s*\[(\d+)\]", text, re.MULTILINE)}


def test_at_least_twelve_families_have_two_exemplars_or_more_each_with_another_task():
    assert len([family for family, count in FAMILIES.items() if count > 1]) >= 12
    assert len({one.task for one in OWN}) == len(OWN)


def test_each_action_can_be_read_and_acts_on_what_its_page_shows():
    for step in (step for exemplar in OWN for step in exemplar.steps):
        assert step.thought
        for text in step.actions:
            action = parse_action(text)
            assert str(action) == text
            for target in action.targets:
                assert isinstance(target, RefTarget)
                assert target.ref in refs_in(step.observation)


def test_each_clean_observation_is_some_lines_of_its_page_and_has_what_was_acted_on():
    for exemplar in OWN:
        pages = [{line.strip() for line in pair.state.splitlines()} for pair in exemplar.abstraction]
        kept = [pair.observation.splitlines() for pair in exemplar.abstraction]
        assert kept, exemplar.id
        assert all(set(lines) <= page for lines, page in zip(kept, pages, strict=True)), exemplar.id
        acted_on = [
            {target.ref for text in step.actions for target in parse_action(text).targets}
            for step in exemplar.steps
        ]
        found = (refs <= refs_in("\n".join(lines)) for refs, lines in zip(acted_on, kept, strict=True))
        assert all(found), exemplar.id


async def test_without_itself_each_exemplar_still_finds_its_family():
    for exemplar in OWN:
        index = ExemplarIndex(HashedWords())
        await index.refresh(numbered([one for one in OWN if one is not exemplar]))
        found = await recall(exemplar.key, index, RecallSettings())
        assert found.family == exemplar.family, (exemplar.id, found.retrieved)


# Programs for implicit abstraction

PAGES = {
    "click-checkboxes": (
        """<div id="query" data-ref="1">Select b and click Submit.</div>
        <label><input type="checkbox" data-ref="2">a</label><br>
        <label><input type="checkbox" data-ref="3">b</label>
        <button data-ref="4">Submit</button>""",
        '[2] checkbox "a"\n[3] checkbox "b"\n[4] button "Submit"',
    ),
    "login-user": (
        """<p data-ref="2"><label>Username</label><input type="text" data-ref="3"></p>
        <p data-ref="4"><label>Password</label><input type="password" data-ref="5"></p>
        <button data-ref="6">Login</button>""",
        '[3] textbox "Username"\n[5] textbox "Password"\n[6] button "Login"',
    ),
    "email-inbox": (
        """<div id="main"><div class="email-thread" data-ref="4"><div class="email-sender">Ada</div>
        <span class="trash" data-ref="5"></span><span class="star" data-ref="6"></span></div></div>
        <div id="reply" class="hide"><span id="send-reply" data-ref="9"></span></div>""",
        '[4] email by "Ada"\n[5] trash of the email by "Ada"\n[6] star of the email by "Ada"',
    ),
    "search-engine": (
        """<input type="text" data-ref="2"><button data-ref="3">Search</button>
        <a class="search-title" data-result="3" data-ref="8">Noor</a>
        <ul id="pagination"><li data-ref="14"><a data-ref="15">2</a></li><li><a>Last</a></li></ul>""",
        '[2] textbox\n[3] button "Search"\n[8] result 4 "Noor"\n[15] page "2"',
    ),
    "click-tab-2": (
        """<ul><li role="tab" aria-selected="false" data-ref="3"><a data-ref="4">Tab #1</a></li>
        <li role="tab" aria-selected="true" data-ref="5"><a data-ref="6">Tab #2</a></li></ul>
        <div role="tabpanel" aria-hidden="true"><span class="alink" data-ref="9">old</span></div>
        <div role="tabpanel" aria-hidden="false"><span class="alink" data-ref="12">new</span></div>""",
        '[3] tab "Tab #1"\n[5] tab "Tab #2" selected\n[12] link "new"',
    ),
}


def need_sandbox() -> None:
    found = confinement()
    if not found.is_confined:
        pytest.skip(found.reason)


def test_families_with_a_program_have_it_in_each_exemplar():
    with_program = {one.family for one in OWN if one.parser}
    assert with_program == set(PAGES)
    assert all(one.parser == parser_of(one.family) for one in OWN)


@pytest.mark.parametrize("family", PAGES)
async def test_a_program_leaves_of_a_page_what_the_task_needs(family):
    need_sandbox()
    html, expected = PAGES[family]
    parsed = await run_parser(parser_of(family), html)
    assert (parsed.text, parsed.error) == (expected, "")


def without_last(script, looks: int, left: list[Look]):
    """Return the script up to its last look, which it puts into `left`."""

    def cut(instruction, page):
        own = script(instruction, page)
        look = next(own)
        for _ in range(looks - 1):
            page = yield look
            look = own.send(page)
        left.append(look)

    return cut


@pytest.mark.browser
@pytest.mark.parametrize("family", PAGES)
def test_on_the_real_page_a_program_names_what_is_there_and_what_is_acted_on_last(stage, family):
    need_sandbox()
    exemplar = next(one for one in OWN if one.family == family)
    script, seed = SOLVERS[family][0], int(exemplar.id.rpartition("/")[2])
    task = stage.services.environments.find(f"miniwob/{family}")
    world = stage.services.world(task)
    left: list[Look] = []
    cut = without_last(script, len(exemplar.steps), left)
    page = stage.thread.run(perform(world, task, seed, cut)).page
    html = stage.thread.run(world.marked_html())
    parsed = stage.thread.run(run_parser(exemplar.parser, html, task=exemplar.task))
    assert parsed.error == ""
    acted_on = {target.ref for text in left[0].actions for target in parse_action(text).targets}
    assert acted_on <= refs_in(parsed.text) <= {one.ref for one in page.elements}


# Replaying


@pytest.mark.browser
@pytest.mark.parametrize("family", REPLAYED)
def test_a_recorded_seed_is_a_success_again_and_gives_the_same_actions(stage, family):
    script, seeds = SOLVERS[family]
    task = stage.services.environments.find(f"miniwob/{family}")
    recorded = stage.thread.run(perform(stage.services.world(task), task, seeds[-1], script))
    again = exemplar_of(recorded, task, seeds[-1])
    kept = next(one for one in OWN if one.id == again.id)
    assert [step.actions for step in again.steps] == [step.actions for step in kept.steps]
    assert (again.task, again.source) == (kept.task, kept.source)
