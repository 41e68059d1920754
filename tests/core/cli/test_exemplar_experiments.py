"""`main.py exemplars keep | replay | worth | credit`, with real runs."""

import json
from contextlib import closing

import pytest
from werkzeug import Response

from core.agent.presets import PRESETS
from core.debugger.evaluations.records import WorthResult
from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.library.store import Library
from core.trace.records import Verdict
from core.trace.store import TraceStore
from tests.core.browser.site import Site
from tests.core.stage import need_chromium, ref_in
from tests.llm_server import Reply

ONE = "miniwob/click-link/0"


@pytest.mark.browser
def test_exemplars_are_replayed_and_what_came_of_it_is_kept(inside):
    done = inside("exemplars", "replay", ONE, "--json", "--browser", need_chromium())
    assert done.code == 0, done.err
    assert [(one["id"], one["success"]) for one in done.json] == [(ONE, True)]
    library = Library.open(inside.folder / LIBRARY_NAME)
    [(_, kept)] = library.proofs.of("replay", [ONE])
    assert json.loads(kept)["task"] == "miniwob/click-link"
    library.close()


@pytest.mark.browser
def test_a_run_is_kept_and_one_that_is_no_success_only_if_asked(inside):
    run = ("run", "--task", "miniwob/click-link", "--llm", "rules", "--browser", need_chromium())
    assert inside(*run).code == 0
    done = inside("exemplars", "keep", "1", "--dry-run")
    assert (done.code, done.err) == (0, "Nothing was saved.\n")
    assert not (inside.folder / LIBRARY_NAME).exists()
    kept = inside("exemplars", "keep", "1", "--family", "links", "--json").json["exemplar"]
    assert (kept["family"], len(kept["steps"])) == ("links", 1)
    assert [one["id"] for one in inside("exemplars", "list", "--run", "1", "--json").json["rows"]] == [
        kept["id"]
    ]
    with closing(TraceStore.open(inside.db)) as store:
        store.set_verdict(1, Verdict(success=False))
    done = inside("exemplars", "keep", "1")
    assert (done.code, "use --anyway" in done.err) == (2, True)
    assert inside("exemplars", "keep", "1", "--anyway").code == 0


@pytest.mark.browser
def test_tasks_are_done_with_and_without_and_the_library_keeps_the_result(inside):
    words = ("--seeds", "0-1", "--llm", "rules", "--browser", need_chromium())
    done = inside("exemplars", "worth", ONE, *words, "--json")
    assert done.code == 0, done.err
    # It was recorded at seed 0.
    runs = [(one["variant"], one["task"], one["seed"]) for one in done.json["runs"]]
    assert sorted(runs) == [("with", "miniwob/click-link", 1), ("without", "miniwob/click-link", 1)]
    assert (done.json["worth"]["used"], done.json["worth"]["cases"]) == (1, 1)
    assert (done.json["done"], done.json["plan"]["kind"]) == (2, "worth")
    assert "was in the prompts of 1 of 1 runs with it" in inside("exemplars", "worth", ONE, *words).out
    library = Library.open(inside.folder / LIBRARY_NAME)
    [(_, kept), (_, second)] = library.proofs.of("worth", [ONE])
    library.close()
    assert WorthResult.model_validate_json(kept).evaluation == done.json["evaluation"]
    assert WorthResult.model_validate_json(second).evaluation != done.json["evaluation"]


@pytest.mark.browser
def test_what_a_run_has_sent_is_not_sent_again_by_the_other_half_unless_it_is_allowed(
    inside, llm_server, tmp_path
):
    def says(action):
        return Reply(text=f"REASON: So.\nACTION: {action}")

    def order_it(request):
        ref = ref_in(request, 'button "Order"')
        return says(f"click [{ref}]")

    (inside.config / "presets").mkdir()
    text = (PRESETS / "synapse.toml").read_text().replace('how = "exemplars"', 'how = "ranked"')
    (inside.config / "presets" / "own.toml").write_text(text)
    orders = []
    with Site() as site:
        order = site.serve(lambda _: Response(orders.append(1) or "taken"))
        url = site.page(f"<button onclick=\"fetch('{order}', {{method: 'POST'}})\">Order</button>")
        (tmp_path / "mine.toml").write_text(
            f'[[tasks]]\nid = "order"\ninstruction = "Order it."\nurl = "{url}"\n'
            "[tasks.judge]\nmust_include = ['Order']\n"
        )
        words = ("--tasks-file", tmp_path / "mine.toml", "--task", "mine/order", "--seeds", "1", "--json")
        found = []
        for rule in ("refuse", "allow"):
            llm_server.script(order_it, says("stop []"), order_it, says("stop []"))
            rules = (
                "--preset",
                "own",
                "--on-gate",
                rule,
                "--llm",
                "test-model",
                "--browser",
                need_chromium(),
            )
            done = inside("exemplars", "worth", ONE, *words, *rules)
            assert done.code == 0, done.err
            found.append((done.json["runs"], len(orders)))
            llm_server.reset()
    (refused, once), (allowed, thrice) = found
    errors = [one["error"] for one in refused]
    assert once == 1
    assert "" in errors
    assert any("Starting mine/order again does not undo POST" in one for one in errors)
    assert thrice == 3
    assert [one["success"] for one in allowed] == [True, True]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("replay", "no-such-one"), "There is no exemplar no-such-one"),
        (("replay", "--origin", "elsewhere"), "is not an origin"),
        (("worth", "no-such-one"), "There is no exemplar no-such-one"),
        (("worth", ONE, "--seeds", "x"), "is not a list of seeds"),
        (("worth", ONE, "--seeds", "0"), "recorded at these seeds"),
        (("worth", ONE, "--preset", "plain"), "uses no exemplars"),
        (("worth", ONE, "--llm", "person"), "needs a window"),
        (("worth", ONE, "--change", "1"), "two versions"),
        (("worth", "nobody", "--family"), "There is no family nobody"),
    ],
)
def test_bad_usage_has_the_code_2_and_a_sentence(inside, words, said):
    done = inside("exemplars", *words)
    assert done.code == 2
    assert said in done.err


def test_without_a_run_the_credits_so_far_are_summed(inside):
    done = inside("exemplars", "credit", "--json")
    assert (done.code, done.json) == (0, [])
