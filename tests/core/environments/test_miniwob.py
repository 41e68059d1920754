import re

import pytest

from core.environments.miniwob import MiniWob, html_root, page_files, plain_instruction, read_catalogue
from core.schema.errors import UsageError
from core.schema.task import Task
from tests.core.environments.driver import PlaywrightDriver

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

AT_THE_START = """addEventListener("load", () => {
  const start = core.startEpisodeReal;
  core.startEpisodeReal = () => {
    start();
    window.stateAtTheStart = document.documentElement.outerHTML;
  };
});"""
"""Keeps the page as it is when the problem has just been made: many move by themselves from then on."""

PARTS = 12
"""Of so many parts of the pages the first ones are looked at, each in a profile of its own."""

DIFFERING = [
    "click-test",
    "click-shape",
    "drag-box",
    "email-inbox-nl-turk",
    "book-flight",
    "terminal",
    "flight-aa",
]

SECRET = {
    "count-sides": "document.querySelector('canvas').toDataURL()",
    "guess-number": "Math.random()",
    "tic-tac-toe": "Math.random()",
}


def task(name: str) -> Task:
    return next(one for one in MiniWob().tasks() if one.id == f"miniwob/{name}")


async def state_of(page: PlaywrightDriver) -> str:
    """The page's HTML at the start, what is typed and chosen in it, and what its frame shows."""
    return await page.evaluate(
        """window.stateAtTheStart + JSON.stringify(
             [...document.querySelectorAll("input, select, textarea")].map((one) => [one.value, one.checked]))
           + [...document.querySelectorAll("iframe")].map((one) => one.contentDocument.body.innerText)"""
    )


async def test_every_installed_page_is_a_task_with_a_sample_and_tags():
    tasks = MiniWob().tasks()
    assert len(tasks) == len(page_files(html_root())) >= 130
    assert [one.id for one in tasks if not one.instruction or not one.tags] == []
    assert {entry.page for entry in read_catalogue()} == {one.details["page"] for one in tasks}


async def test_ids_are_the_names_of_the_pages(miniwob):
    ids = [one.id for one in miniwob.tasks()]
    assert len(set(ids)) == len(ids)
    assert {"miniwob/click-test-2", "miniwob/book-flight", "miniwob/flight-alaska-auto"} <= set(ids)


@pytest.mark.parametrize("part", range(4))
async def test_the_same_seed_gives_the_same_page(page, miniwob, part):
    odd: list[str] = []
    await page.add_init_script(AT_THE_START)
    for one in miniwob.tasks()[part::PARTS]:
        seen = []
        for _ in range(2):
            episode = await miniwob.open(one, 0, page)
            seen.append((episode.instruction, await state_of(page)))
        if seen[0] != seen[1]:
            odd.append(f"{one.id}: seed 0 gave two pages")
        if seen[0][0] != one.instruction:
            odd.append(f"{one.id}: the sample instruction is not the one of seed 0")
    assert odd == []


@pytest.mark.parametrize("name", DIFFERING)
async def test_different_seeds_give_different_pages(miniwob, page, name):
    states = set()
    await page.add_init_script(AT_THE_START)
    for seed in (0, 1, 2):
        await miniwob.open(task(name), seed, page)
        states.add(await state_of(page))
    assert len(states) > 1


@pytest.mark.parametrize(("name", "secret"), SECRET.items())
async def test_different_seeds_give_different_secrets(miniwob, page, name, secret):
    """What the HTML does not show: a drawing, a hidden number, the moves to come."""
    secrets = set()
    for seed in range(4):
        await miniwob.open(task(name), seed, page)
        secrets.add(str(await page.evaluate(secret, main_world=True)))
    assert len(secrets) > 1


@pytest.mark.parametrize("name", ["book-flight", "enter-time", "flight-alaska"])
async def test_language_and_time_zone_of_the_machine_do_not_change_the_page(browser, miniwob, name):
    seen = set()
    for locale, zone in (("de-DE", "America/Sao_Paulo"), ("ja-JP", "Pacific/Kiritimati")):
        context = await browser.new_context(locale=locale, timezone_id=zone)
        await context.add_init_script(AT_THE_START)
        page = PlaywrightDriver(await context.new_page())
        episode = await miniwob.open(task(name), 5, page)
        dates = await page.evaluate(
            """[new Date(2016, 10, 6, 1).toString(),
                new Date("10/16/2016").getTime(), Date.parse("2016-10-16"),
                new Date("2016-10-16T03:00").getHours(), new Date(2016, 0, 31).toLocaleDateString(),
                new Date("March 7, 2017 10:00 GMT+0200").getHours(), new Date().toDateString(),
                new Date(new Date(5)).getTime(), typeof Date(), new Date(NaN).toString()].join()"""
        )
        seen.add((episode.instruction, await state_of(page), dates))
        await context.close()
    assert len(seen) == 1
    assert seen.pop()[2] == (
        "Sun Nov 06 2016 01:00:00 GMT+0000 (Coordinated Universal Time),1476576000000,1476576000000,"
        "3,1/31/2016,8,Sat Jun 15 2024,5,string,Invalid Date"
    )


async def test_the_right_click_ends_the_episode_with_the_full_reward(miniwob, page):
    episode = await miniwob.open(task("click-test-2"), 7, page)
    assert episode.instruction == "Click button ONE."
    assert not await miniwob.ended(page)
    await page.playwright_page.get_by_role("button", name="ONE").click()
    assert await miniwob.ended(page)
    verdict = await miniwob.judge(episode, page, "")
    assert (verdict.success, verdict.reward, verdict.judge) == (True, 1.0, "page")


async def test_the_wrong_click_ends_the_episode_without_success(miniwob, page):
    episode = await miniwob.open(task("click-test-2"), 7, page)
    await page.playwright_page.get_by_role("button", name="TWO").click()
    verdict = await miniwob.judge(episode, page, "")
    assert (await miniwob.ended(page), verdict.success, verdict.reward) == (True, False, -1.0)


async def test_an_episode_that_was_not_ended_is_no_success(miniwob, page):
    episode = await miniwob.open(task("click-button"), 1, page)
    verdict = await miniwob.judge(episode, page, "done")
    assert (verdict.success, verdict.reward) == (False, 0.0)
    assert "not ended" in verdict.reason


async def test_leaving_the_page_is_no_success_and_no_failure_of_the_world(miniwob, page):
    episode = await miniwob.open(task("click-button"), 1, page)
    await page.goto("about:blank")
    assert not await miniwob.ended(page)
    verdict = await miniwob.judge(episode, page, "")
    assert (verdict.success, verdict.reward) == (False, 0.0)


async def test_a_typed_and_submitted_task_is_a_success(miniwob, page):
    episode = await miniwob.open(task("login-user"), 4, page)
    user, password = re.findall(r'"(.*?)"', episode.instruction)
    await page.playwright_page.fill("#username", user)
    await page.playwright_page.fill("#password", password)
    await page.playwright_page.click("#subbtn")
    assert (await miniwob.judge(episode, page, "")).success is True


async def test_a_date_is_chosen_in_the_calendar_of_the_tasks_year(miniwob, page):
    episode = await miniwob.open(task("choose-date-easy"), 2, page)
    month, day, year = re.search(r"(\d+)/(\d+)/(\d+)", episode.instruction).groups()
    live = page.playwright_page
    await live.click("#datepicker")
    assert (await live.inner_text(".ui-datepicker-title")).split() == ["December", year]
    assert month == "12"
    await live.get_by_role("link", name=str(int(day)), exact=True).click()
    await live.click("#subbtn")
    assert (await miniwob.judge(episode, page, "")).success is True


async def test_shapes_can_be_dragged(miniwob, page):
    episode = await miniwob.open(task("drag-box"), 0, page)
    await page.playwright_page.drag_and_drop("#draggableSmall", "#draggableLarge")
    await page.playwright_page.click("#subbtn")
    assert (await miniwob.judge(episode, page, "")).success is True


async def test_part_of_the_work_is_a_part_of_the_reward(miniwob, page):
    episode = await miniwob.open(task("click-checkboxes-large"), 0, page)
    names = re.search(r"Select (.*) and click", episode.instruction)[1].split(", ")
    for name in names[:-1]:
        await page.playwright_page.get_by_label(name, exact=True).check()
    await page.playwright_page.click("#subbtn")
    verdict = await miniwob.judge(episode, page, "")
    assert verdict.success is True
    assert 0 < verdict.reward < 1


async def test_the_final_page_stays_as_it_was_left(miniwob, page):
    await miniwob.open(task("enter-text"), 0, page)
    live = page.playwright_page
    asked = await live.inner_text("#query")
    await live.fill("#tt", "wrong")
    await live.click("#subbtn")
    assert await miniwob.ended(page)
    assert await live.inner_text("#query") == asked
    assert await live.input_value("#tt") == "wrong"
    await live.click("#subbtn")
    assert await live.input_value("#tt") == "wrong"


async def test_an_ended_episode_keeps_its_first_result(miniwob, page):
    episode = await miniwob.open(task("click-test-2"), 7, page)
    await page.playwright_page.get_by_role("button", name="TWO").click()
    await page.playwright_page.get_by_role("button", name="ONE").click()
    assert (await miniwob.judge(episode, page, "")).reward == -1.0


async def test_nothing_of_the_judge_is_to_be_seen(miniwob, page):
    for name in ("click-test-2", "flight-aa"):
        await miniwob.open(task(name), 0, page)
        for selector in miniwob.hidden_selectors:
            assert await page.playwright_page.locator(selector).filter(visible=True).count() == 0, selector
    await miniwob.open(task("click-test-2"), 0, page)
    await page.playwright_page.get_by_role("button", name="ONE").click()
    shown = await page.playwright_page.inner_text("body")
    assert not re.search(r"START|reward|Episodes|Time left", shown, re.IGNORECASE)


async def test_the_page_writes_no_reward_to_the_console(miniwob, page):
    said: list[str] = []
    page.playwright_page.on("console", lambda message: said.append(message.text))
    await miniwob.open(task("click-test-2"), 0, page)
    await page.playwright_page.get_by_role("button", name="ONE").click()
    assert await miniwob.ended(page)
    assert said == []


async def test_without_a_limit_no_time_runs_out_and_none_of_the_reward_is_lost(miniwob, page):
    episode = await miniwob.open(task("click-test-2"), 0, page)
    assert await page.evaluate("core.EPISODE_MAX_TIME", main_world=True) == 2147483647
    await page.playwright_page.get_by_role("button", name="ONE").click()
    assert (await miniwob.judge(episode, page, "")).reward == 1.0


@pytest.mark.parametrize(("name", "limit"), [("click-test-2", 10000), ("book-flight", 30000)])
async def test_with_a_limit_the_pages_own_is_kept_and_the_reward_sinks_with_time(browser, name, limit):
    environment = MiniWob(time_limit=True)
    context = await browser.new_context()
    page = PlaywrightDriver(await context.new_page())
    episode = await environment.open(task(name), 0, page)
    assert await page.evaluate("core.EPISODE_MAX_TIME", main_world=True) == limit
    await page.evaluate(f"core.ept0 -= {limit // 2}; core.endEpisode(1, true)", main_world=True)
    verdict = await environment.judge(episode, page, "")
    assert verdict.success is True
    assert 0.3 < verdict.reward <= 0.5
    await context.close()
    await environment.close()


async def test_with_a_limit_an_episode_that_runs_out_of_time_fails(browser):
    environment = MiniWob(time_limit=True)
    context = await browser.new_context()
    await context.add_init_script("addEventListener('load', () => { core.EPISODE_MAX_TIME = 30 })")
    page = PlaywrightDriver(await context.new_page())
    episode = await environment.open(task("click-test-2"), 0, page)
    await page.playwright_page.wait_for_function("WOB_DONE_GLOBAL")
    verdict = await environment.judge(episode, page, "")
    assert (verdict.success, verdict.reward, verdict.reason) == (False, -1.0, "timed out")
    await context.close()
    await environment.close()


async def test_a_reload_begins_the_same_problem_again(miniwob, page):
    episode = await miniwob.open(task("enter-text"), 8, page)
    await page.playwright_page.fill("#tt", "half typed")
    await page.goto(episode.start_url)
    await page.playwright_page.wait_for_function("core.ept0 !== null")
    assert " ".join((await page.playwright_page.inner_text("#query")).split()) == episode.instruction
    assert await page.playwright_page.input_value("#tt") == ""


async def test_other_sites_in_the_same_tab_are_left_alone(miniwob, page, site):
    (site.root / "other.html").write_text("<title>Other</title>")
    await miniwob.open(task("click-test"), 0, page)
    await page.goto(f"{site.origin}/other.html")
    assert await page.evaluate("new Date().getFullYear() > 2024 && Date.name === 'Date'")
    assert await page.evaluate("Object.getOwnPropertySymbols(window).length") == 0


async def test_a_flight_page_pays_in_full_only_for_all_fields(miniwob, page):
    episode = await miniwob.open(task("flight-alaska-auto"), 0, page)
    assert episode.instruction.startswith("Fill in the form and search for flights with these details.")
    submit = """(wrong) => {
      const wanted = Object.entries(core.currentQuestion.request);
      const data = wanted.map(([key, value]) => ["INPUT", "text", key, value]);
      if (wrong) data.find(([, , key]) => key.endsWith("NumberOfTravelers"))[3] = "9";
      core.flightSubmit(data);
    }"""
    await page.playwright_page.evaluate(submit, True)
    verdict = await miniwob.judge(episode, page, "")
    assert verdict.success is False
    assert 0 < verdict.reward < 1
    episode = await miniwob.open(task("flight-alaska-auto"), 0, page)
    await page.playwright_page.evaluate(submit, False)
    assert (await miniwob.judge(episode, page, "")).success is True


@pytest.mark.parametrize("seed", [-1, 2**53])
async def test_a_seed_that_the_pages_cannot_take_is_refused(miniwob, page, seed):
    with pytest.raises(UsageError, match="seed"):
        await miniwob.open(task("click-test"), seed, page)


async def test_an_instruction_in_json_becomes_a_sentence():
    assert plain_instruction('{"From": "Oslo",\n "Day": 6}').endswith("details. From: Oslo; Day: 6.")
    assert plain_instruction("Click  the\nbutton.") == "Click the button."
    assert plain_instruction("{odd}") == "{odd}"
