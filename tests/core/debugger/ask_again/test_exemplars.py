"""What is stored of a prompt's parts, on real pages: exemplars by name, and data for the built-in LLM."""

import pytest

from core.debugger.ask_again.prompt_parts import found_again, switched
from core.debugger.ask_again.repeat import ask_again, deciding_call, kept_attributions
from core.debugger.ask_again.views import Question
from core.debugger.exemplars.trying.views import sums_of
from core.exemplars.files import write_exemplars
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar, ExemplarStep
from core.schema.messages import LLMRequest
from core.trace.calls import stored_prompt
from core.trace.encoding import encode_prompt
from tests.core.stage import llms_for, page_file, ref_in, settings_for
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

PAGE = "<button>Save</button><button>Delete</button>"


def exemplar(number):
    return Exemplar(
        id=f"draft-{number}",
        family="draft",
        task=f"Keep the draft number {number}.",
        steps=(
            ExemplarStep(observation='[1] button "Save"', thought="Keep.", actions=("click [1]",)),
            ExemplarStep(observation='[2] text "Saved"', actions=("stop []",)),
        ),
    )


@pytest.fixture
def memory(stage):
    folder = stage.settings.database.parent / "exemplars"
    write_exemplars(folder / "own.jsonl", [exemplar(number) for number in (1, 2)])
    yield folder
    (folder / "own.jsonl").unlink()


def shorten(request):
    return Reply(text='[1] button "Save"\n[2] button "Delete"')


def click(words):
    return lambda request: Reply(text=f"REASON: So.\nACTION: click [{ref_in(request, words)}]")


@pytest.fixture
def run(stage, llm_server, tmp_path, memory):
    llm_server.script(shorten, click('button "Delete"'))
    run = stage.open(
        llm_server, url=page_file(tmp_path, PAGE), instruction="Keep the draft.", preset="synapse"
    )
    stage.step(run)
    return run.state.run


def test_exemplars_are_listed_by_name_with_their_messages_if_that_was_recorded(stage, asking, run, memory):
    view = asking.open(run, 1)
    exemplars = [one for one in view.parts if one.kind == "exemplar"]
    assert view.parts_known
    assert {one.id for one in exemplars} == {"draft-1", "draft-2"}
    assert [(one.family, one.messages) for one in exemplars] == [("draft", 4), ("draft", 4)]
    for one in exemplars:
        assert one.title in view.messages[one.message].text
    assert view.memory_note == ""
    gone = asking.write_exemplar(run, 1, "nothing")
    assert "The exemplar nothing is no longer in the library" in gone.problem
    built_in = asking.ask_credit(Question(run=run, step=1, llm="rules", count=3))
    assert "reads no prompt" in built_in.problem
    write_exemplars(memory / "own.jsonl", [exemplar(1).replace(task="Other words."), exemplar(2)])
    assert "were edited after" in asking.open(run, 1).memory_note

    # A run of an older version says that it was not recorded.
    store = stage.services.store
    call = deciding_call(store.step(run, 1))
    sent = stored_prompt(store, call)
    old = encode_prompt(LLMRequest(purpose="decide", messages=sent.messages, tools=sent.tools))
    store.calls.save(run, call.replace(messages=old.hash), blobs=old.blobs)
    view = asking.open(run, 1)
    assert (view.parts, view.parts_known) == ((), False)
    llms = llms_for(settings_for(stage.settings.database))
    with pytest.raises(UsageError, match="does not contain"):
        stage.thread.run(ask_again(store, llms.routed("rules"), Question(run=run, step=1)))


def test_an_exemplar_is_switched_for_one_of_the_memory_and_the_request_follows(
    asking, run, memory, llm_server
):
    write_exemplars(memory / "own.jsonl", [exemplar(number) for number in (1, 2, 3)])
    view = asking.open(run, 1)
    assert "draft-3" in [one.id for one in view.memory]
    written = asking.write_exemplar(run, 1, "draft-3").written
    assert written is not None
    items = found_again(view.messages, view.parts, tuple(enumerate(view.messages)))
    coming = items[0].part.replace(id="draft-3", title=written.task)
    changed = switched(view.messages, items, 0, coming, written.content)
    llm_server.script(click('button "Save"'))
    view = asking.ask(Question(run=run, step=1, llm="test", count=1, messages=changed.messages))
    sent = llm_server.requests[-1].texts
    assert any("Keep the draft number 3." in text for text in sent)
    assert not any(items[0].part.title in text for text in sent)
    assert view.asked[0].answers[0].action.startswith("click")


def test_the_credit_of_an_exemplar_is_how_much_likelier_it_made_the_action(stage, asking, run, llm_server):
    shown = [one for one in asking.open(run, 1).parts if one.kind == "exemplar"]
    needed = shown[0].title

    def answer(request):
        is_there = any(needed in text for text in request.texts)
        return click('button "Delete"' if is_there else 'button "Save"')(request)

    llm_server.script(*[answer] * 9)
    view = asking.ask_credit(Question(run=run, step=1, llm="test", count=3))
    assert view.problem == ""
    found = {one.id: one for one in view.credits}
    assert [found[one.id].share for one in shown] == [1.0, 0.0]
    assert found[shown[0].id].with_all == found[shown[0].id].without_all == 3
    # Every question is stored with the step, and what was found is in the library.
    assert [one.count for one in view.asked] == [3, 3, 3]
    library = stage.services.resources.memory.library()
    assert [one.total for one in sums_of(kept_attributions(library))] == [1.0, 0.0]


@pytest.mark.parametrize("preset", ["plain", "laser", "combined"])
def test_the_built_in_llm_answers_again_as_it_did_in_the_run(stage, llm_server, tmp_path, preset):
    run = stage.open(
        llm_server, url=page_file(tmp_path, PAGE), instruction='Click the button "Save".', preset=preset
    )
    llms = llms_for(settings_for(stage.settings.database))
    run.use(llm=llms.routed("rules"))
    stage.step(run)
    question = Question(run=run.state.run, step=1, count=2)
    found = stage.thread.run(ask_again(stage.services.store, llms.routed("rules"), question))
    assert found.recorded.startswith("click")
    assert found.distribution == ((found.recorded, 2),)
    stage.thread.run(llms.close())


def test_the_words_of_a_policy_are_a_part(stage, asking, llm_server, tmp_path):
    (stage.config / "policies" / "web").mkdir(parents=True, exist_ok=True)
    policy = stage.config / "policies" / "web" / "drafts.md"
    policy.write_text(
        '+++\ntop = true\ndescription = "Keeps drafts."\n+++\n# Instruction\nNever lose a draft.\n'
    )
    llm_server.script(click('button "Save"'))
    run = stage.open(llm_server, url=page_file(tmp_path, PAGE), instruction="Keep it.", preset="step")
    stage.step(run)
    view = asking.open(run.state.run, 1)
    [part] = [one for one in view.parts if one.kind == "policy"]
    assert part.id == "web/drafts"
    assert view.messages[0].text[part.start : part.end] == "Never lose a draft."
