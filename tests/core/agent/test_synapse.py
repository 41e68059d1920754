"""The preset ``synapse`` on real pages: what is recalled and shortened, and several actions from one reply."""

import pytest

from core.exemplars.files import write_exemplars
from core.schema.exemplar import AbstractionPair, Exemplar, ExemplarStep
from tests.core.agent.traced import purposes, records, steps, view
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

INSTRUCTION = 'Enter "Ada" as the name, "Oslo" as the city, and save.'
FORM = (
    "<p>Fill it in.</p><form onsubmit=\"document.body.innerHTML='<p>Saved.</p>';return false\">"
    "<label>Name <input></label><label>City <input></label><button>Save</button></form>"
)


def exemplar(number, **more):
    return Exemplar(
        id=f"form-{number}",
        family="form",
        task=f'Enter "Bob {number}" as the name and save.',
        steps=(
            ExemplarStep(
                observation='[1] textbox "Name"\n[2] button "Save"',
                thought="The field, then the button.",
                actions=(f"type [1] [Bob {number}]", "click [2]"),
            ),
            ExemplarStep(observation='[3] text "Saved."', thought="It is saved.", actions=("stop []",)),
        ),
        abstraction=(
            AbstractionPair(
                state=f'[1] textbox "Name"\n[2] button "Save"\n[9] text "An advertisement {number}"',
                observation='[1] textbox "Name"\n[2] button "Save"',
            ),
        ),
        **more,
    )


OTHER = Exemplar(
    id="mail-1",
    family="mail",
    task="Delete the mail by Eve.",
    steps=(ExemplarStep(observation='[1] link "Eve"', actions=("click [1]",)),),
)


@pytest.fixture
def memory(stage):
    """Own exemplars beside the built-in ones, put away again."""
    folder = stage.settings.database.parent / "exemplars"
    write_exemplars(folder / "own.jsonl", [exemplar(1), exemplar(2), OTHER])
    yield folder
    (folder / "own.jsonl").unlink()


def lines_of(request, *words):
    """Return the lines of the page, the last message, that hold one of the words."""
    return Reply(
        text="\n".join(
            line.strip() for line in request.texts[-1].splitlines() if any(word in line for word in words)
        )
    )


def shorten(request):
    return lines_of(request, "textbox", "button", "Saved")


def fill_in(request):
    name, city = ref_in(request, 'textbox "Name"'), ref_in(request, 'textbox "City"')
    save = ref_in(request, 'button "Save"')
    return Reply(
        text=f"REASON: All at once.\nACTION: type [{name}] [Ada]\nACTION: type [{city}] [Oslo]\n"
        f"ACTION: click [{save}]"
    )


def says(action):
    return Reply(text=f"REASON: So.\nACTION: {action}")


def open_run(stage, server, url, preset="synapse"):
    return stage.open(server, url=url, instruction=INSTRUCTION, preset=preset)


def test_whole_trajectories_come_first_and_one_reply_is_several_steps(stage, llm_server, memory, tmp_path):
    llm_server.script(shorten, fill_in, shorten, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM))
    stage.to_the_end(run)
    assert run.outcome == "done"
    assert purposes(run) == ["abstract", "decide", "abstract", "decide"]
    assert [step.effect for step in steps(run)] == ["page action"] * 3 + ["stop"]
    assert [records(run, number)["decide"].from_queue for number in (1, 2, 3, 4)] == [
        False,
        True,
        True,
        False,
    ]

    recalled = records(run, 1)["recall"]
    assert recalled.recall.family == "form"
    assert set(recalled.exemplars) >= {"form-1", "form-2"}
    assert records(run, 2)["recall"].recalled_at == 1

    abstract, decide, again, last = llm_server.requests
    roles = [message["role"] for message in abstract.body["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "An advertisement 1" in "\n".join(abstract.texts)

    roles = [message["role"] for message in decide.body["messages"]]
    assert roles == ["system", *["user", "assistant"] * 4, "user"]
    first, reply = decide.texts[1:3]
    assert first.startswith('Task: Enter "Bob')
    assert "\n\nObservation:\n[1] textbox" in first
    assert "Tasks that were carried out well come first" in decide.texts[0]
    assert reply.splitlines()[0] == "REASON: The field, then the button."
    assert reply.splitlines()[1].startswith("ACTION: type [1] [Bob ")
    assert decide.texts[3].startswith("Observation:")
    assert decide.texts[-1].startswith(f"Task: {INSTRUCTION}")
    assert "Fill it in." not in decide.texts[-1]
    assert f"\nPage: page.html ({run.state.observation.url})\nObservation:\n" in decide.texts[-1]

    # What was done is shown as the exemplars are: the look, the whole reply, and then the new look.
    own = last.texts[-3:]
    assert own[0].startswith(f"Task: {INSTRUCTION}")
    assert f"\nPage: page.html ({run.state.observation.url})\nObservation:\n" in own[0]
    assert own[1].count("ACTION:") == 3
    assert "Saved." in own[2]
    assert again.body["temperature"] == last.body["temperature"] == 0.0


def test_a_queue_is_cut_short_by_a_page_that_demands_a_new_look(stage, llm_server, memory, tmp_path):
    vanishing = FORM.replace(
        "<label>Name <input></label>",
        "<label>Name <input onchange=\"document.querySelector('button').remove()\"></label>",
    )
    llm_server.script(shorten, fill_in, shorten, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, vanishing))
    stage.to_the_end(run)
    # The button is gone once the name is committed, by the click into the next field.
    acted = [step.action.partition(" ")[0] for step in steps(run)]
    assert acted == ["type", "type", "stop"]
    assert purposes(run) == ["abstract", "decide", "abstract", "decide"]
    assert records(run, 3)["decide"].from_queue is False
    # The LLM and the person are told what was not done, and why.
    cut = records(run, 3)["decide"].cut
    assert cut.startswith("An action that was to follow was not done: click [")
    assert "is not" in cut
    assert f"- {cut}" in llm_server.requests[-1].texts[-1]
    assert view(run, 3).action.cut == cut
    assert records(run, 2)["decide"].cut == ""


def test_an_error_empties_the_queue_and_is_shown_to_the_llm(stage, llm_server, memory, tmp_path):
    covered = FORM + '<div style="position:fixed;inset:0;background:#ddd">in the way</div>'

    def press_first(request):
        save, name = ref_in(request, 'button "Save"'), ref_in(request, 'textbox "Name"')
        return Reply(text=f"REASON: So.\nACTION: click [{save}]\nACTION: type [{name}] [Ada]")

    llm_server.script(shorten, press_first, shorten, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, covered))
    stage.to_the_end(run)
    assert [(step.effect, step.outcome) for step in steps(run)] == [
        ("page action", "failed"),
        ("stop", "done"),
    ]
    assert "What came of it:\n- click [" in llm_server.requests[-1].texts[-1]
    assert "failed" in llm_server.requests[-1].texts[-1]
    cut = records(run, 2)["decide"].cut
    assert cut.startswith("An action that was to follow was not done: type [")
    assert cut.endswith("The action before them failed.")
    assert cut in llm_server.requests[-1].texts[-1]


def test_a_new_page_is_the_reason_that_a_queue_is_dropped_and_every_prompt_tells_it(
    stage, llm_server, tmp_path
):
    there = page_file(tmp_path, "<p>There.</p><button>Save</button>", "there.html")
    text = stage.services.resources.presets.get("plain").text
    (stage.config / "presets" / "many.toml").write_text(
        text.replace("several_actions = false", "several_actions = true").replace('"auto"', '"lines"')
    )

    def go_and_press(request):
        link, button = ref_in(request, 'link "Go"'), ref_in(request, 'button "Save"')
        return Reply(text=f"REASON: So.\nACTION: click [{link}]\nACTION: click [{button}]")

    llm_server.script(go_and_press, says("stop []"))
    url = page_file(tmp_path, f'<a href="{there}">Go</a><button>Save</button>')
    run = open_run(stage, llm_server, url, "many")
    stage.to_the_end(run)
    cut = records(run, 2)["decide"].cut
    assert cut.endswith("The page they were meant for was replaced by another one.")
    assert cut in llm_server.requests[-1].texts[-1]


def implicit(stage):
    text = stage.services.resources.presets.get("synapse").text
    (stage.config / "presets" / "implicit.toml").write_text(
        text.replace('how = "exemplars"', 'how = "implicit"')
    )
    return "implicit"


PROGRAM = """```python
from bs4 import BeautifulSoup

def parse(html):
    page = BeautifulSoup(html, "html.parser")
    found = page.find_all(["input", "button"])
    return "\\n".join(f"[{one['data-ref']}] {one.name} {one.get_text()}" for one in found)
```"""


def test_a_program_of_the_llm_makes_the_clean_observation_and_is_kept(stage, llm_server, memory, tmp_path):
    llm_server.script(Reply(text=PROGRAM), says("scroll [down]"), says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM), implicit(stage))
    stage.to_the_end(run)
    assert purposes(run) == ["parser", "decide", "decide"]
    first, second = records(run, 1)["abstract"], records(run, 2)["abstract"]
    assert [one.role for one in first.clean.elements] == ["textbox", "textbox", "button"]
    assert first.clean.text.splitlines()[-1].endswith("button Save")
    assert first.problem == second.problem == ""
    assert second.how == "the program from an earlier step"
    assert first.code in PROGRAM
    assert 'data-ref="' in llm_server.requests[0].texts[-1]


def test_a_program_that_fails_is_reported_and_the_llm_shortens_the_page_without_examples(
    stage, llm_server, memory, tmp_path
):
    broken = Reply(text="```python\ndef parse(html):\n    return open('/etc/passwd').read()\n```")
    llm_server.script(broken, shorten, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM), implicit(stage))
    stage.to_the_end(run)
    assert purposes(run) == ["parser", "abstract", "decide"]
    abstracted = records(run, 1)["abstract"]
    assert "Instead, the LLM was asked for the clean observation, without examples." in abstracted.problem
    assert abstracted.how == "the LLM, without examples"
    assert [message["role"] for message in llm_server.requests[1].body["messages"]] == ["system", "user"]


PRICES = (
    "<h1>Lamps</h1><p>Lamp Oslo costs 31 crowns.</p><p>Lamp Rome costs 40 crowns.</p>"
    "<button>More</button><p>An advertisement</p>"
)
FLAT = """```python
def parse(html):
    return "A page with some lamps and a button."
```"""


def test_a_page_with_refs_that_are_not_there_is_not_used_and_the_llm_is_asked_without_pairs(
    stage, llm_server, memory, tmp_path
):
    llm_server.script(Reply(text='[999] button "Buy all"'), shorten, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM))
    stage.to_the_end(run)
    assert purposes(run) == ["abstract", "abstract", "decide"]
    abstracted = records(run, 1)["abstract"]
    assert "It names [999], which the page does not contain." in abstracted.problem
    assert abstracted.how == "the LLM, without examples"
    assert [one.role for one in abstracted.clean.elements] == ["textbox", "textbox", "button"]


def test_prose_in_place_of_a_page_is_not_used_and_in_the_end_the_page_is_ranked(
    stage, llm_server, memory, tmp_path
):
    prose = Reply(text="The page has a form with two fields.")
    llm_server.script(prose, prose, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM))
    stage.to_the_end(run)
    assert purposes(run) == ["abstract", "abstract", "decide"]
    abstracted = records(run, 1)["abstract"]
    assert abstracted.how.startswith("ranking by the words of the task")
    assert abstracted.problem.count("It contains none of the 3 usable elements") == 2
    assert abstracted.problem.endswith("Instead, the page was ranked by the words of the task.")
    assert 'textbox "City"' in llm_server.requests[-1].texts[-1]


def test_a_program_that_keeps_nothing_useful_is_told_and_is_not_run_on_the_next_page(
    stage, llm_server, memory, tmp_path
):
    lines = Reply(text=PROGRAM.replace('["input", "button"]', '["h1", "p", "button"]'))
    llm_server.script(
        Reply(text=FLAT), lambda request: lines_of(request, "costs", "button"), says("scroll [down]")
    )
    llm_server.script(lines, says("stop []"))
    run = stage.open(
        llm_server,
        url=page_file(tmp_path, PRICES),
        instruction="What does the lamp Oslo cost?",
        preset=implicit(stage),
    )
    stage.to_the_end(run)
    assert purposes(run) == ["parser", "abstract", "decide", "parser", "decide"]
    first, second = records(run, 1)["abstract"], records(run, 2)["abstract"]
    assert "was not used. It contains none of the" in first.problem
    assert "Lamp Oslo costs 31" in llm_server.requests[2].texts[-1]
    assert second.how == "the program that the LLM wrote"
    assert second.problem == ""


def test_a_program_that_loses_what_the_task_names_gives_way(stage, llm_server, memory, tmp_path):
    buttons = Reply(text=PROGRAM.replace('["input", "button"]', '["button"]'))
    llm_server.script(buttons, Reply(text='[1] button "More"'), says("stop []"))
    run = stage.open(
        llm_server,
        url=page_file(tmp_path, PRICES),
        instruction="What does the lamp Oslo cost?",
        preset=implicit(stage),
    )
    stage.to_the_end(run)
    abstracted = records(run, 1)["abstract"]
    assert (
        "It does not contain “Oslo”, although the task names this and the page shows it."
        in abstracted.problem
    )
    assert abstracted.how.startswith("ranking by the words of the task")
    assert "Lamp Oslo costs 31" in llm_server.requests[-1].texts[-1]


def test_beyond_the_threshold_memory_is_not_used(stage, llm_server, memory, tmp_path):
    text = stage.services.resources.presets.get("synapse").text
    (stage.config / "presets" / "near.toml").write_text(text.replace("threshold = 1.1", "threshold = 0.05"))
    llm_server.script(says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM), "near")
    stage.to_the_end(run)
    # Abstraction comes with the exemplars: without one the page is ranked.
    assert purposes(run) == ["decide"]
    assert records(run, 1)["abstract"].how.startswith("ranking by the words of the task")
    recalled = records(run, 1)["recall"]
    assert recalled.exemplars == ()
    assert "beyond the threshold" in recalled.recall.why
    assert "carried out well" not in llm_server.requests[-1].texts[0]
    assert [message["role"] for message in llm_server.requests[-1].body["messages"]] == ["system", "user"]


def test_where_recalled_exemplars_have_a_program_and_no_pairs_one_is_written(
    stage, llm_server, memory, tmp_path
):
    run = open_run(stage, llm_server, page_file(tmp_path, FORM))
    stage.until(run, "abstract")
    recall = run.state.recalled.recall
    with_program = tuple(
        one.replace(parser="def parse(html):\n    return html", abstraction=()) for one in recall.used
    )
    run.state.recalled_by_frame[0] = run.state.recalled.replace(recall=recall.replace(used=with_program))
    llm_server.script(Reply(text=PROGRAM), says("stop []"))
    stage.to_the_end(run)
    assert purposes(run) == ["parser", "decide"]


def test_a_program_that_leaves_no_field_in_view_is_refused_and_what_was_lost_is_told(
    stage, llm_server, memory, tmp_path
):
    buttons = Reply(text=PROGRAM.replace('["input", "button"]', '["button"]'))
    llm_server.script(buttons, shorten, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM), implicit(stage))
    stage.to_the_end(run)
    assert purposes(run) == ["parser", "abstract", "decide"]
    problem = records(run, 1)["abstract"].problem
    assert 'Of what is in view it contains no field, such as textbox "Name", textbox "City".' in problem


def test_what_a_program_leaves_out_of_the_view_is_told(stage, llm_server, memory, tmp_path):
    first = Reply(text=PROGRAM.replace("for one in found)", "for one in (found[0], found[-1]))"))
    llm_server.script(first, says("stop []"))
    run = open_run(stage, llm_server, page_file(tmp_path, FORM), implicit(stage))
    stage.to_the_end(run)
    abstracted = records(run, 1)["abstract"]
    assert abstracted.problem == ""
    assert abstracted.how.endswith('left out of what is in view: textbox "City"')
