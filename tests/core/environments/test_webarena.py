import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from core.environments.webarena import WebArena
from core.environments.webarena_config import read_configs, with_sites
from core.schema.errors import BrowserError, DataError, UsageError
from core.schema.task import Episode

LAST = {"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}}


def config(**changes) -> dict:
    return {
        "sites": ["shopping"],
        "task_id": 7,
        "require_login": False,
        "storage_state": None,
        "start_url": "__SHOPPING__",
        "geolocation": None,
        "intent_template": "{{a}}",
        "instantiation_dict": {"a": "b"},
        "intent": "Find the lamp.",
        "require_reset": False,
        "eval": {
            "eval_types": ["string_match"],
            "reference_answers": {"exact_match": "12"},
            "reference_url": "",
            "program_html": [],
            "string_note": "",
            "reference_answer_raw_annotation": "12",
        },
        "intent_template_id": 1,
    } | changes


def program(*targets: dict) -> dict:
    return {
        "eval_types": ["program_html"],
        "reference_answers": None,
        "reference_url": "",
        "program_html": targets,
    }


def written(folder: Path, data, name: str = "test.raw.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return path


def read(paths, *, sites=None) -> WebArena:
    return WebArena(read_configs(paths).configs, sites)


def problems_of(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read([path], sites={})
    return str(caught.value)


def test_a_list_gives_a_task_for_each_config(tmp_path):
    fuzzy = config(task_id=8, require_login=True, require_reset=True)
    fuzzy["eval"] = fuzzy["eval"] | {"reference_answers": {"fuzzy_match": ["a"]}}
    first, second = read([written(tmp_path, [config(), fuzzy])], sites={}).tasks()
    assert (first.id, first.instruction, first.start_url) == ("webarena/7", "Find the lamp.", "__SHOPPING__")
    assert first.tags == ("shopping", "string_match")
    assert second.tags == ("shopping", "string_match", "fuzzy_match", "login", "reset")


def test_a_folder_gives_its_numbered_files_in_order(tmp_path):
    for number in (10, 2):
        written(tmp_path, config(task_id=number), f"{number}.json")
    written(tmp_path, [config(task_id=99)], "test.raw.json")
    assert [task.id for task in read([tmp_path], sites={}).tasks()] == ["webarena/2", "webarena/10"]


def test_all_problems_of_a_file_are_reported_with_their_lines(tmp_path):
    bad = [
        config(intent=""),
        config(
            task_id=8,
            eval={"eval_types": ["string_mach", "string_match"], "reference_answers": {"exact": "a"}},
        ),
        config(task_id=9, geolocation={"latitude": 1}),
        config(task_id=10, eval=program(LAST | {"locator": "func:steal('x')"})),
        config(task_id=10, eval=program(LAST | {"required_contents": {}})),
        config(task_id=11, eval={"eval_types": ["url_match"], "reference_url": ""}),
        config(task_id=12, eval=program(LAST | {"required_contents": {"must_include": []}})),
        config(task_id=13, eval={"eval_types": ["string_match"], "reference_answers": {"must_include": []}}),
        config(task_id=14, start_url=" |AND| "),
    ]
    said = problems_of(written(tmp_path, bad))
    for part in (
        "\"intent\" = '' in [0] cannot be used: it must not be empty.",
        "\"eval_types[0]\" = 'string_mach' in [1].eval cannot be used: ",
        'there is no key "exact" in [1].eval.reference_answers; did you mean exact_match?',
        '"geolocation" in [2] cannot be used: ',
        '"locator" = "func:steal(\'x\')" in [3].eval.program_html[0] cannot be used: steal is not known',
        '"required_contents" in [4].eval.program_html[0] cannot be used: it needs exact_match or must_include.',
        '"eval" in [5] cannot be used: url_match needs a reference_url.',
        '"required_contents" in [6].eval.program_html[0] cannot be used: it needs exact_match or must_include.',
        '"eval" in [7] cannot be used: string_match needs reference_answers.',
        "start_url has no address",
    ):
        assert part in said
    assert all("test.raw.json, line " in line for line in said.splitlines()[1:])


def test_a_task_id_that_is_there_twice_is_a_problem(tmp_path):
    found = read_configs([written(tmp_path, [config(), config()])])
    assert [one.id for one in found.configs] == ["7"]
    assert [(one.id, "7 occurs twice" in one.why) for one in found.unsupported] == [("webarena/7", True)]


def test_a_task_that_cannot_be_used_leaves_the_others(tmp_path):
    excluded = config(task_id=8)
    excluded["eval"] = excluded["eval"] | {"reference_answers": {"must_not": ["a"]}}
    pictures = config(task_id=9, eval={"eval_types": ["url_match", "page_image_query"], "reference_url": "x"})
    path = written(tmp_path, [config(), excluded, pictures, "x"])
    found = read_configs([path])
    assert [one.id for one in found.configs] == ["7"]
    first, second, third = found.unsupported
    assert (first.id, second.id, third.id) == ("webarena/8", "webarena/9", "test.raw.json[3]")
    assert first.place == f"test.raw.json, line {line_of(path, 'must_not')}"
    assert first.why.startswith('string_match: there is no key "must_not" in [1].eval.reference_answers')
    assert second.why == (
        "url_match, page_image_query: page_image_query compares pictures of the page with a vision model, "
        "which is not done here."
    )


def line_of(path, word):
    return next(at for at, line in enumerate(path.read_text().splitlines(), start=1) if word in line)


def test_a_file_of_a_folder_that_is_broken_leaves_the_others(tmp_path):
    written(tmp_path, config(task_id=1), "1.json")
    (tmp_path / "2.json").write_text("{")
    (tmp_path / "3.json").write_bytes(b"PK\x05\x06" + bytes(18))
    found = read_configs([tmp_path])
    assert [one.id for one in found.configs] == ["1"]
    assert [one.id for one in found.unsupported] == ["2.json", "3.json"]
    assert "is a ZIP archive" in found.unsupported[1].why


def test_tasks_of_webarena_verified_are_listed_with_what_judges_them(tmp_path):
    verified = config(eval=[{"evaluator": "AgentResponseEvaluator"}, {"evaluator": "NetworkEventEvaluator"}])
    found = read_configs([written(tmp_path, [verified])])
    (one,) = found.unsupported
    assert found.configs == ()
    assert "AgentResponseEvaluator compares an answer in WebArena Verified's own JSON, and " in one.why


def test_what_belongs_to_an_evaluator_that_is_not_asked_does_no_harm(tmp_path):
    evaluation = {"eval_types": ["url_match"], "reference_url": "http://a/", "reference_answers": ["odd"]}
    unused = [{"url": "", "required_contents": []}]
    (task,) = read([written(tmp_path, config(eval=evaluation | {"program_html": unused}))]).tasks()
    assert task.tags == ("shopping", "url_match")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"policies": [{}, {}]}, "Not judged: the task's policies (2)."),
        ({"image": "https://a/b.png"}, "Not shown to the agent: the pictures that the task speaks of (1)."),
        ({"image": ["a", "b", "c"]}, "Not shown to the agent: the pictures that the task speaks of (3)."),
        ({"setup_scripts": ["a"]}, "Not run: the task's setup scripts (1)."),
        ({"viewport_size": {"width": 5}}, "Not set: the size of the window that the task asks for."),
        ({"policies": [], "image": None, "comments": "x", "task_metadata": {}}, ""),
    ],
)
async def test_the_verdict_says_what_was_not_judged_or_shown(tmp_path, more, said):
    environment = read([written(tmp_path, config(**more))], sites={"SHOPPING": "http://a"})
    (task,) = environment.tasks()
    episode = Episode(task=task, seed=0, instruction="", start_url="")
    verdict = await environment.judge(episode, None, "12")
    assert verdict.success is True
    assert verdict.reason == f"Every check of the task's config passes. {said}".strip()
    assert ("partly-judged" in task.tags) == bool(said)


@pytest.mark.parametrize(("text", "said"), [("{", "this is not JSON"), ("[]x", "this is not JSON")])
def test_a_broken_file_is_refused(tmp_path, text, said):
    path = tmp_path / "0.json"
    path.write_text(text)
    assert said in problems_of(path)


def test_a_folder_without_configs_and_a_missing_file_are_problems(tmp_path):
    assert "contains no configuration" in problems_of(tmp_path)
    assert "cannot be read" in problems_of(tmp_path / "none.json")


pytestmark_browser = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def on_pages(test):
    for mark in pytestmark_browser:
        test = mark(test)
    return test


@pytest.fixture
def shop(site):
    (site.root / "index.html").write_text("<h1>Shop</h1><p id=who></p>")
    (site.root / "lamp.html").write_text(
        "<h1 class=name>The &amp; Lamp</h1><i class=q>3</i><script>var stock = 3</script>"
    )
    (site.root / "who.html").write_text(
        "<p id=who></p><script>who.innerText = document.cookie + '/' + localStorage.theme</script>"
    )
    return site


def arena(folder: Path, sites: dict[str, str], **changes) -> tuple[WebArena, object]:
    environment = read([written(folder, config(**changes))], sites=sites)
    return environment, environment.tasks()[0]


@on_pages
async def test_the_placeholder_becomes_the_address_of_the_site(tmp_path, page, shop):
    environment, task = arena(tmp_path, {"SHOPPING": shop.origin + "/"}, start_url="__SHOPPING__/lamp.html")
    episode = await environment.open(task, 0, page)
    assert episode.start_url == f"{shop.origin}/lamp.html"
    assert await page.url() == f"{shop.origin}/lamp.html"
    assert episode.instruction == "Find the lamp."
    assert not await environment.ended(page)


def test_the_address_of_a_site_needs_no_scheme(tmp_path):
    sites = {"SHOPPING": "shop.local:7770/"}
    _, task = arena(tmp_path, sites)
    assert task.sites == ("shop.local:7770",)
    assert with_sites("__SHOPPING__/a", sites, task.id) == "http://shop.local:7770/a"


@on_pages
async def test_a_site_without_an_address_is_named(tmp_path, page):
    environment, task = arena(tmp_path, {"SHOPPING_ADMIN": "http://x"})
    with pytest.raises(UsageError, match=r"webarena/7 needs the address of SHOPPING: .*SHOPPING=http"):
        await environment.open(task, 0, page)


@on_pages
async def test_addresses_come_from_the_process_where_none_are_given(tmp_path, page, shop, monkeypatch):
    monkeypatch.setenv("SHOPPING", shop.origin)
    environment = read([written(tmp_path, config(start_url="__SHOPPING__/lamp.html"))])
    assert (await environment.open(environment.tasks()[0], 0, page)).start_url == f"{shop.origin}/lamp.html"


def storage_state(origin: str) -> dict:
    cookie = {"name": "user", "value": "emma", "domain": "127.0.0.1", "path": "/", "expires": -1}
    return {
        "cookies": [cookie | {"httpOnly": False, "secure": False, "sameSite": "Lax"}],
        "origins": [{"origin": origin, "localStorage": [{"name": "theme", "value": "dark"}]}],
    }


@on_pages
@pytest.mark.parametrize("place", ["beside", "above", "working directory", "inline"])
async def test_the_storage_state_logs_in_before_the_page_opens(tmp_path, page, shop, monkeypatch, place):
    state = storage_state(shop.origin)
    folders = {"beside": tmp_path / "configs", "above": tmp_path, "working directory": tmp_path / "elsewhere"}
    given = state
    if place != "inline":
        written(folders[place], state, ".auth/state.json")
        given = "./.auth/state.json"
    if place == "working directory":
        monkeypatch.chdir(folders[place])
    environment, task = arena(
        tmp_path / "configs",
        {"SHOPPING": shop.origin},
        start_url="__SHOPPING__/who.html",
        storage_state=given,
    )
    await environment.open(task, 0, page)
    assert await page.playwright_page.inner_text("#who") == "user=emma/dark"


@on_pages
async def test_a_storage_state_that_is_nowhere_is_said_with_what_to_do(tmp_path, page, shop):
    environment, task = arena(tmp_path, {"SHOPPING": shop.origin}, storage_state="./.auth/none.json")
    with pytest.raises(UsageError, match=r"none\.json is neither .* auto_login"):
        await environment.open(task, 0, page)


@on_pages
async def test_a_damaged_storage_state_is_said(tmp_path, page, shop):
    written(tmp_path, {"cookies": [{"name": "a"}]}, "state.json")
    environment, task = arena(tmp_path, {"SHOPPING": shop.origin}, storage_state="state.json")
    with pytest.raises(DataError, match=r'the key "value" is missing in cookies\[0\]; add it\. Log in'):
        await environment.open(task, 0, page)


@on_pages
async def test_further_start_pages_open_behind_the_first(tmp_path, page, shop):
    environment, task = arena(
        tmp_path, {"SHOPPING": shop.origin}, start_url="__SHOPPING__/index.html |AND| __SHOPPING__/lamp.html"
    )
    await environment.open(task, 0, page)
    opened = [tab.url for tab in page.playwright_page.context.pages]
    assert opened == [f"{shop.origin}/index.html", f"{shop.origin}/lamp.html"]
    assert await page.url() == opened[0]


@on_pages
async def test_several_start_pages_need_a_browser_with_tabs(tmp_path, page, shop):
    environment, task = arena(
        tmp_path, {"SHOPPING": shop.origin}, start_url="__SHOPPING__ |AND| __SHOPPING__"
    )

    class OneTab:
        def __getattr__(self, name: str):
            if name == "open_tab":
                raise AttributeError(name)
            return getattr(page, name)

    with pytest.raises(BrowserError, match="2 tabs"):
        await environment.open(task, 0, OneTab())


async def verdict_of(
    folder: Path, page, shop, evaluation: dict, answer: str = "", at: str = "lamp.html", **sites
):
    environment, task = arena(
        folder, {"SHOPPING": shop.origin, **sites}, start_url=f"{shop.origin}/{at}", eval=evaluation
    )
    episode = await environment.open(task, 0, page)
    stored = Episode.model_validate_json(episode.model_dump_json())
    return await environment.judge(stored, page, answer)


@on_pages
async def test_string_match_and_url_match_must_both_hold(tmp_path, used_page, shop):
    evaluation = {
        "eval_types": ["string_match", "url_match"],
        "reference_answers": {"exact_match": "12"},
        "reference_url": "__SHOPPING__/lamp.html",
    }
    right = await verdict_of(tmp_path, used_page, shop, evaluation, "12")
    assert (right.success, right.reward, right.judge) == (True, 1.0, "file")
    assert (await verdict_of(tmp_path, used_page, shop, evaluation, "13")).success is False
    assert (await verdict_of(tmp_path, used_page, shop, evaluation, "12", "index.html")).success is False


def target(**changes) -> dict:
    return {
        "url": "__SHOPPING__/lamp.html",
        "locator": "document.querySelector('.name').innerText",
        "required_contents": {"exact_match": "The & Lamp"},
    } | changes


@on_pages
@pytest.mark.parametrize(
    ("changes", "success"),
    [
        ({}, True),
        ({"required_contents": {"exact_match": "The Lamp"}}, False),
        ({"required_contents": {"must_include": ["lamp", "the"]}}, True),
        ({"required_contents": {"must_include": ["lamp", "chair"]}}, False),
        ({"required_contents": {"must_include": ["chair |OR| lamp"]}}, True),
        ({"locator": "", "required_contents": {"must_include": ["the & lamp"]}}, True),
        ({"locator": "document.querySelector('.none').innerText"}, False),
        ({"locator": "document.querySelector('.none')", "required_contents": {"exact_match": ""}}, False),
        ({"locator": "document.querySelector('.none')", "required_contents": {"exact_match": "None"}}, True),
        (
            {
                "locator": "[...document.querySelectorAll('.q')].map((one) => one.innerText).join(' ')",
                "required_contents": {"exact_match": "3"},
            },
            True,
        ),
        ({"locator": "stock", "required_contents": {"exact_match": "3"}}, True),
        (
            {
                "prep_actions": ["document.querySelector('.name').innerText = 'Chair'"],
                "required_contents": {"exact_match": "chair"},
            },
            True,
        ),
        ({"prep_actions": ["nothing.here"]}, True),
        ({"url": "func:reddit_get_post_url('__SHOPPING__/lamp.html')"}, True),
    ],
)
async def test_a_page_is_looked_at_after_the_run_and_the_tab_comes_back(
    tmp_path, page, shop, monkeypatch, changes, success
):
    monkeypatch.setattr("core.environments.webarena_judge.LOADED_SECONDS", 0.0)
    verdict = await verdict_of(tmp_path, page, shop, program(target(**changes)), at="index.html")
    assert (verdict.success, verdict.judge) == (success, "file")
    assert await page.url() == f"{shop.origin}/index.html"


@on_pages
async def test_a_page_that_cannot_be_opened_for_the_check_leaves_the_success_unknown(tmp_path, page, shop):
    verdict = await verdict_of(tmp_path, page, shop, program(target(url="http://127.0.0.1:1/")))
    assert (verdict.success, verdict.judge) == (None, "none")
    assert "http://127.0.0.1:1/ could not be opened" in verdict.reason
    assert await page.url() == f"{shop.origin}/lamp.html"


@on_pages
async def test_what_an_opened_page_shows_a_moment_later_counts(tmp_path, page, shop):
    (shop.root / "late.html").write_text(
        "<h1 class=name>Loading</h1><script>setTimeout(() => "
        "{ document.querySelector('.name').innerText = 'The & Lamp' }, 1500)</script>"
    )
    evaluation = program(target(url="__SHOPPING__/late.html"))
    assert (await verdict_of(tmp_path, page, shop, evaluation, at="index.html")).success is True


@on_pages
async def test_last_looks_at_the_page_where_the_agent_ended_as_it_left_it(tmp_path, used_page, shop):
    environment, task = arena(
        tmp_path,
        {"SHOPPING": shop.origin},
        start_url="__SHOPPING__/lamp.html",
        eval=program(target(url="last", required_contents={"exact_match": "Sold"})),
    )
    episode = await environment.open(task, 0, used_page)
    await used_page.evaluate("document.querySelector('.name').innerText = 'Sold'")
    assert (await environment.judge(episode, used_page, "")).success is True


@on_pages
@pytest.mark.parametrize("query", ["'", "\\", "y" * 2500], ids=["quote", "backslash", "long"])
async def test_the_last_url_of_a_call_may_be_any(tmp_path, used_page, shop, query):
    wanted = target(
        url="func:reddit_get_post_url('__last_url__')", required_contents={"exact_match": "The & Lamp"}
    )
    verdict = await verdict_of(tmp_path, used_page, shop, program(wanted), at=f"lamp.html?q={query}")
    assert verdict.success is True


@on_pages
async def test_the_role_of_a_project_member_is_read_from_the_page(tmp_path, used_page, shop):
    (shop.root / "members.html").write_text(
        "<table><tr><td data-label=Account><span class=gl-avatar-labeled-sublabel>@emma</span></td>"
        "<td class=col-max-role><span>Guest</span></td></tr></table>"
    )
    contents = {"must_include": ["Guest"]}
    for account, success in (("emma", True), ("nobody", False)):
        locator = f"func:gitlab_get_project_memeber_role(__page__, '{account}')"
        evaluation = program(target(url="last", locator=locator, required_contents=contents))
        assert (await verdict_of(tmp_path, used_page, shop, evaluation, at="members.html")).success is success


def serve_shop(server: HTTPServer, reviews: list) -> None:
    server.expect_request(
        "/rest/default/V1/integration/admin/token", method="POST", json={"username": "boss", "password": "pw"}
    ).respond_with_json("TOKEN")
    bearer = {"Authorization": "Bearer TOKEN"}
    server.expect_request("/rest/V1/orders", headers=bearer).respond_with_json(
        {"items": [{"increment_id": "0017"}]}
    )
    server.expect_request("/rest/V1/products/B0/reviews", headers=bearer).respond_with_json(reviews)
    server.expect_request("/sales/order/view/order_id/17/").respond_with_data(
        "<p id=t>Total 12</p>", content_type="text/html"
    )
    server.expect_request("/").respond_with_data("<p>Shop", content_type="text/html")
    server.expect_request("/favicon.ico").respond_with_data("")


ADMIN = {"SHOPPING_SITE_ADMIN_USERNAME": "boss", "SHOPPING_SITE_ADMIN_PASSWORD": "pw"}
ORDER = target(
    url="func:shopping_get_latest_order_url()",
    locator="document.querySelector('#t').innerText",
    required_contents={"must_include": ["total 12"]},
)


def review_target(part: str, wanted: str) -> dict:
    locator = f"func:shopping_get_sku_latest_review_{part}('B0')"
    return target(url="last", locator=locator, required_contents={"exact_match": wanted})


@on_pages
@pytest.mark.parametrize(
    ("wanted", "success"),
    [
        (ORDER, True),
        (review_target("author", "Emma"), True),
        (review_target("author", "Otto"), False),
        (review_target("rating", "80"), True),
    ],
)
async def test_the_shop_is_asked_for_orders_and_reviews(tmp_path, used_page, httpserver, wanted, success):
    reviews = [
        {"nickname": "Otto"},
        {"nickname": "Emma", "ratings": [{"rating_name": "Rating", "percent": 80}]},
    ]
    serve_shop(httpserver, reviews)
    sites = {"SHOPPING": httpserver.url_for("").rstrip("/"), **ADMIN}
    environment, task = arena(tmp_path, sites, eval=program(wanted))
    episode = await environment.open(task, 0, used_page)
    verdict = await environment.judge(episode, used_page, "")
    assert (verdict.success, verdict.judge) == (success, "file"), verdict.reason


@on_pages
async def test_a_product_without_reviews_has_no_author(tmp_path, used_page, httpserver):
    serve_shop(httpserver, [])
    sites = {"SHOPPING": httpserver.url_for("").rstrip("/"), **ADMIN}
    environment, task = arena(tmp_path, sites, eval=program(review_target("author", "")))
    assert (
        await environment.judge(await environment.open(task, 0, used_page), used_page, "")
    ).success is True


@on_pages
async def test_an_answer_of_the_shop_in_another_form_leaves_the_success_unknown(
    tmp_path, used_page, httpserver
):
    serve_shop(httpserver, ["Emma"])
    sites = {"SHOPPING": httpserver.url_for("").rstrip("/"), **ADMIN}
    environment, task = arena(tmp_path, sites, eval=program(review_target("author", "Emma")))
    verdict = await environment.judge(await environment.open(task, 0, used_page), used_page, "")
    assert (verdict.success, verdict.judge) == (None, "none")
    assert "does not have the form" in verdict.reason


@on_pages
@pytest.mark.parametrize(
    ("admin", "said"),
    [
        ({}, "SHOPPING_SITE_ADMIN_USERNAME"),
        (ADMIN, "The shop could not be asked"),
        (ADMIN | {"SHOPPING": "http://no host"}, "The shop could not be asked"),
    ],
)
async def test_a_shop_that_cannot_be_asked_leaves_the_success_unknown(tmp_path, used_page, shop, admin, said):
    evaluation = program(review_target("author", "Emma"))
    verdict = await verdict_of(tmp_path, used_page, shop, evaluation, **admin)
    assert (verdict.success, verdict.judge) == (None, "none")
    assert said in verdict.reason
