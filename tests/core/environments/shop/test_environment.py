import json

import pytest

from core.environments.protocol import Environment, KeepsState
from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.environment import TASKS, Shop
from core.environments.shop.goals import PurchaseGoal, bundled_goals
from core.schema.errors import DataError
from tests.core.environments.driver import PlaywrightDriver
from tests.core.environments.shop.task_list import task_list

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def goal_of(task) -> PurchaseGoal:
    return next(one.goal for one in bundled_goals() if task.id.endswith(one.name))


def task_with_options(shop):
    """The first task that asks for a value of every group of its product."""
    catalogue = bundled_catalogue()
    return next(
        task
        for task in shop.tasks()
        if len(goal_of(task).options) == len(catalogue.product(goal_of(task).product).groups) == 2
    )


async def find_item(page: PlaywrightDriver, goal: PurchaseGoal) -> None:
    """Search and turn pages by clicks until the goal's item is there, and open it."""
    tab = page.playwright_page
    await tab.get_by_label("Keywords").fill(f"{' '.join(goal.attributes)} {goal.type}")
    await tab.get_by_label("Maximum price").fill(str(goal.price_limit // 100))
    await tab.get_by_role("button", name="Search").click()
    await tab.get_by_role("heading", name="Results for").wait_for()
    while not await (link := tab.locator(f"a[data-item-id={goal.product}]")).count():
        await tab.get_by_role("link", name="Next").click()
        await tab.wait_for_load_state()
    await link.click()
    await tab.get_by_role("button", name="Buy now").wait_for()


async def choose(page: PlaywrightDriver, options: dict[str, str]) -> None:
    for name, value in options.items():
        group = page.playwright_page.locator(f"[data-option-group={name}]")
        await group.get_by_role("button", name=value, exact=True).click()
        await group.locator("button[aria-pressed=true]").wait_for()


async def buy(page: PlaywrightDriver) -> None:
    await page.playwright_page.get_by_role("button", name="Buy now").click()
    await page.playwright_page.get_by_role("heading", name="Thank you for your order").wait_for()


async def test_the_shop_is_an_environment_that_keeps_state(shop):
    environment: Environment = shop
    assert environment.id == "shop"
    assert isinstance(shop, KeepsState)
    assert len({task.id for task in shop.tasks()}) == len(shop.tasks()) >= 200
    assert shop.tasks()[0].id == "shop/goal-000"
    assert not any(task.seeded for task in shop.tasks())
    assert Shop().tasks() == shop.tasks()


async def test_what_was_asked_for_is_bought_by_clicks_for_the_full_reward(shop, page):
    task = task_with_options(shop)
    episode = await shop.open(task, 0, page)
    assert episode.instruction == task.instruction
    await find_item(page, goal_of(task))
    await choose(page, goal_of(task).options)
    assert not await shop.ended(page)
    await buy(page)
    assert await shop.ended(page)
    verdict = await shop.judge(episode, page, "")
    assert (verdict.success, verdict.reward, verdict.judge) == (True, 1.0, "page")
    assert "attributes" in verdict.reason
    assert "reward 1.000" in verdict.reason
    assert "reward" not in (await page.html()).lower()


async def test_an_item_is_found_compared_and_bought_by_keys_alone(shop, page):
    episode = await shop.open(task_with_options(shop), 0, page)
    goal = goal_of(episode.task)
    tab = page.playwright_page

    async def tab_to(selector: str) -> None:
        for _ in range(80):
            if await tab.evaluate(f"document.activeElement.matches({selector!r})"):
                return
            await tab.keyboard.press("Tab")
        pytest.fail(f"{selector} cannot be reached with the Tab key")

    await tab_to("#q")
    await tab.keyboard.type(bundled_catalogue().product(goal.product).title)
    await tab.keyboard.press("Tab")
    await tab.keyboard.type("999")
    await tab.keyboard.press("Enter")
    await tab.get_by_role("heading", name="Results for").wait_for()
    await tab_to(f"a[data-item-id={goal.product}]")
    await tab.keyboard.press("Enter")
    await tab.get_by_role("heading", name="Overview").wait_for()
    await tab_to("nav.tabs a[href*='/reviews']")
    await tab.keyboard.press("Enter")
    await tab.get_by_role("heading", name="Reviews", exact=True).wait_for()
    for name, value in goal.options.items():
        button = f'[data-option-group={name}] button[value="{value}"]'
        await tab_to(button)
        await tab.keyboard.press("Space")
        await tab.locator(f"{button}[aria-pressed=true]").wait_for()
    await tab_to("form[action='/buy'] button")
    await tab.keyboard.press("Enter")
    await tab.get_by_role("heading", name="Thank you for your order").wait_for()
    assert (await shop.judge(episode, page, "")).reward is not None


async def test_choosing_an_option_does_not_send_the_keyboard_back_to_the_top(shop, page):
    task = task_with_options(shop)
    await shop.open(task, 0, page)
    await find_item(page, goal_of(task))
    name = next(iter(goal_of(task).options))
    await choose(page, {name: goal_of(task).options[name]})
    # The browser moves its place in the page at the moment it finds the address's target.
    await page.playwright_page.locator("fieldset:target").wait_for()
    await page.playwright_page.keyboard.press("Tab")
    at = await page.evaluate("document.activeElement.closest('[data-option-group]')?.dataset.optionGroup")
    assert at == name


async def test_a_wrong_option_costs_its_part_and_the_reason_names_it(shop, page):
    task = task_with_options(shop)
    goal = goal_of(task)
    episode = await shop.open(task, 0, page)
    await find_item(page, goal)
    name, wanted = next(iter(goal.options.items()))
    groups = bundled_catalogue().product(goal.product).groups
    group = next(one for one in groups if one.name == name)
    other = next(value for value in group.values if value != wanted)
    await choose(page, {**goal.options, name: other})
    await buy(page)
    verdict = await shop.judge(episode, page, "")
    assert verdict.success is False
    assert 0 < verdict.reward < 1
    assert f"missing {name}: {wanted}" in verdict.reason


async def test_nothing_bought_is_no_reward(shop, page):
    episode = await shop.open(shop.tasks()[0], 0, page)
    assert not await shop.ended(page)
    verdict = await shop.judge(episode, page, "I bought it")
    assert (verdict.success, verdict.reward, verdict.reason) == (False, 0.0, "Nothing was bought.")


async def test_only_the_first_order_counts(shop, page):
    task = task_with_options(shop)
    episode = await shop.open(task, 0, page)
    await find_item(page, goal_of(task))
    await choose(page, goal_of(task).options)
    item = page.playwright_page.url
    await buy(page)
    first = await shop.judge(episode, page, "")
    await page.goto(item)
    await buy(page)
    assert await shop.judge(episode, page, "") == first


async def test_going_back_shows_the_page_as_it_was(shop, page):
    task = task_with_options(shop)
    await shop.open(task, 0, page)
    await find_item(page, goal_of(task))
    tab = page.playwright_page

    async def words() -> list[str]:
        # Not as it is laid out: that depends on whether the style sheet has come.
        return ((await tab.locator("main").text_content()) or "").split()

    unchosen = await words()
    await choose(page, dict([next(iter(goal_of(task).options.items()))]))
    assert await words() != unchosen
    await tab.go_back()
    assert await words() == unchosen


async def test_a_restored_state_forgets_what_came_after_and_leaves_the_old_session(shop, page):
    task = task_with_options(shop)
    episode = await shop.open(task, 0, page)
    before = shop.snapshot(episode)
    await find_item(page, goal_of(task))
    await choose(page, goal_of(task).options)
    await buy(page)
    branch = await shop.restore(episode, page, before)
    assert branch.session != episode.session
    await page.goto(branch.start_url)
    assert not await shop.ended(page)
    assert (await shop.judge(branch, page, "")).reward == 0
    assert (await shop.judge(episode, page, "")).reward == 1
    assert shop.snapshot(branch) == before


async def test_a_text_that_is_no_snapshot_is_refused_and_the_page_keeps_its_session(shop, page):
    episode = await shop.open(shop.tasks()[0], 0, page)
    cookies = await page.evaluate("document.cookie")
    with pytest.raises(DataError, match="not a state of the shop"):
        await shop.restore(episode, page, '{"orders": 3}')
    assert await page.evaluate("document.cookie") == cookies


async def test_two_episodes_know_nothing_of_each_other(shop, page):
    task = task_with_options(shop)
    first = await shop.open(task, 0, page)
    await find_item(page, goal_of(task))
    second = await shop.open(task, 1, page)
    assert goal_of(task).product in shop.snapshot(first)
    assert goal_of(task).product not in shop.snapshot(second)


async def test_elsewhere_than_in_the_shop_nothing_has_ended(shop, page):
    await shop.open(shop.tasks()[0], 0, page)
    await page.goto("data:text/html,elsewhere")
    assert not await shop.ended(page)


async def test_the_pages_load_nothing_from_elsewhere_and_say_nothing_in_the_console(shop, page):
    tab = page.playwright_page
    asked: list[str] = []
    said: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: said.append(message.text))
    task = task_with_options(shop)
    episode = await shop.open(task, 0, page)
    await find_item(page, goal_of(task))
    await choose(page, goal_of(task).options)
    await buy(page)
    assert said == []
    assert all(url.startswith(episode.start_url) for url in asked)


async def test_the_list_of_tasks_is_up_to_date():
    assert json.loads(TASKS.read_text(encoding="utf-8")) == task_list()
