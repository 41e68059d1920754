"""Each scenario done in the page as a person does it, and the session behind it taken back and judged."""

import json
import re

import pytest
from playwright.async_api import Page, expect

from core.environments.airline.environment import KINDS, TASKS, Airline
from core.environments.airline.scenarios import Scenario, make
from core.environments.airline.wording import instruction
from core.environments.protocol import Environment, KeepsState
from core.schema.errors import DataError, UsageError
from core.schema.task import Task
from tests.core.environments.airline.client import journey_form, passenger_asked_for
from tests.core.environments.airline.task_list import task_list

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


def task(airline: Airline, name: str) -> Task:
    return next(one for one in airline.tasks() if one.id == f"airline/{name}")


def scenario_of(task: Task, seed: int) -> Scenario:
    return make(seed, KINDS[task.id.removeprefix("airline/")])


async def heading(page: Page, text: str) -> None:
    await expect(page.get_by_role("heading", name=text, level=1)).to_be_visible()


async def search(page: Page, scenario: Scenario, *, trip: bool = True) -> None:
    form = journey_form(scenario)
    if trip:
        await page.get_by_role("radio", name="Return" if form["return"] else "One way").check()
    await page.get_by_role("combobox", name="From").fill(form["from"])
    await page.get_by_role("combobox", name="To").fill(form["to"])
    await page.get_by_role("textbox", name="Departure date").fill(form["departure"])
    if form["return"]:
        await page.get_by_role("textbox", name="Return date").fill(form["return"])
    await page.get_by_role("button", name="Search flights").click()


async def choose(page: Page, scenario: Scenario, button: str) -> None:
    await heading(page, "Choose flights")
    for legs, flight in (("Outward flights", scenario.outward), ("Return flights", scenario.back)):
        if flight is not None:
            await page.get_by_role("radiogroup", name=legs).get_by_role("radio", name=flight.number).check()
    await page.get_by_role("button", name=button).click()


async def find_booking(page: Page, reference: str) -> None:
    await page.get_by_role("link", name="Find a booking").click()
    await heading(page, "Find a booking")
    await page.get_by_role("textbox", name="Booking reference").fill(reference)
    await page.get_by_role("button", name="Search").click()
    await heading(page, f"Booking {reference}")


async def find_flight(page: Page, scenario: Scenario) -> None:
    await search(page, scenario)
    await heading(page, "Choose flights")


async def book_flight(page: Page, scenario: Scenario) -> None:
    await search(page, scenario)
    await choose(page, scenario, "Confirm flights")
    await heading(page, "Passenger details")
    person, card = scenario.passenger, scenario.card
    await page.get_by_role("combobox", name="Title").select_option(person.title)
    await page.get_by_role("textbox", name="First name").fill(person.first_name)
    await page.get_by_role("textbox", name="Last name").fill(person.last_name)
    await page.get_by_role("radio", name=person.gender, exact=True).check()
    await page.get_by_role("textbox", name="Date of birth").fill(person.birth.isoformat())
    await page.get_by_role("button", name="Save passenger").click()
    await heading(page, "Payment")
    await page.get_by_role("textbox", name="Card number").fill(card.number)
    await page.get_by_role("textbox", name="Expiry date").fill(card.expiry)
    await page.get_by_role("textbox", name="CVC").fill(card.cvc)
    await page.get_by_role("button", name="Book flight").click()
    await expect(page.get_by_text("The flight is booked.").first).to_be_visible()


async def cancel_booking(page: Page, scenario: Scenario) -> None:
    await find_booking(page, scenario.reference)
    await page.get_by_role("link", name="Cancel booking").click()
    await heading(page, f"Cancel booking {scenario.reference}")
    await page.get_by_role("textbox", name="Booking reference").fill(scenario.reference)
    await page.get_by_role("button", name="Cancel booking").click()
    await expect(page.get_by_text("Cancelled", exact=True)).to_be_visible()


async def change_passenger(page: Page, scenario: Scenario) -> None:
    await find_booking(page, scenario.reference)
    await page.get_by_role("link", name="Modify booking").click()
    await heading(page, f"Modify booking {scenario.reference}")
    person = page.get_by_role("region", name=f"Passenger {passenger_asked_for(scenario).name}")
    for field, value in scenario.changes:
        if field == "title":
            await person.get_by_role("combobox", name="Title").select_option(value)
        elif field == "gender":
            await person.get_by_role("radio", name=value, exact=True).check()
        else:
            label = {"first_name": "First name", "last_name": "Last name", "birth": "Date of birth"}[field]
            await person.get_by_role("textbox", name=label).fill(value)
    await person.get_by_role("button", name="Save passenger").click()
    await expect(page.get_by_text("details are saved").first).to_be_visible()


async def change_flights(page: Page, scenario: Scenario) -> None:
    await find_booking(page, scenario.reference)
    await page.get_by_role("link", name="Modify booking").click()
    await page.get_by_role("link", name="Change flights").click()
    await heading(page, "Change flights")
    await search(page, scenario, trip=False)
    await choose(page, scenario, "Save flights")
    await expect(page.get_by_text("The flights are changed.").first).to_be_visible()


WAYS = {
    "find-flight": find_flight,
    "book-flight": book_flight,
    "find-booking": lambda page, scenario: find_booking(page, scenario.reference),
    "cancel-booking": cancel_booking,
    "change-passenger": change_passenger,
    "change-flights": change_flights,
}


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("name", list(WAYS))
async def test_a_scenario_is_solved_through_the_page(airline, page, name, seed):
    one = task(airline, name)
    episode = await airline.open(one, seed, page)
    assert await airline.ended(page) is False
    await WAYS[name](page.playwright_page, scenario_of(one, seed))
    assert await airline.ended(page) is True
    verdict = await airline.judge(episode, page, "")
    assert (verdict.success, verdict.reward, verdict.judge) == (True, 1.0, "page")


async def test_booking_works_by_the_keyboard_alone(airline, page):
    one = task(airline, "book-flight")
    scenario = scenario_of(one, 3)
    form = journey_form(scenario)
    episode = await airline.open(one, 3, page)
    keys = page.playwright_page.keyboard
    await heading(page.playwright_page, "Find flights")

    async def tab_to(name: str) -> None:
        """Press Tab until the field or button of that name has the focus."""
        for _ in range(60):
            await keys.press("Tab")
            said = await page.evaluate(
                "(() => { const one = document.activeElement; return one.ariaLabel || one.labels?.[0]?.textContent"
                " || one.textContent; })()"
            )
            if said.strip().startswith(name):
                return
        raise AssertionError(f"{name} is not reached by Tab")

    async def take(name: str, flight) -> None:
        """Reach a group of radio buttons by Tab and go down to the right one."""
        await keys.press("Tab")
        group = page.playwright_page.get_by_role("radiogroup", name=name)
        await keys.press("Space")
        for _ in range(8):
            if await group.get_by_role("radio", name=flight.number).is_checked():
                return
            await keys.press("ArrowDown")
        raise AssertionError(f"{flight.number} is not reached by the arrows")

    await tab_to("From")
    await keys.type("osl")
    await keys.press("ArrowDown")
    await keys.press("Enter")
    await keys.press("Tab")
    await keys.type("Los An")
    await keys.press("Enter")
    await keys.press("Tab")
    await keys.type(form["departure"])
    await keys.press("Tab")
    await keys.type(form["return"])
    await keys.press("Enter")
    await heading(page.playwright_page, "Choose flights")
    await tab_to("Change the search")
    await take("Outward flights", scenario.outward)
    await take("Return flights", scenario.back)
    await tab_to("Confirm flights")
    await keys.press("Enter")
    await heading(page.playwright_page, "Passenger details")
    person, card = scenario.passenger, scenario.card
    await tab_to("Title")
    await keys.type(person.title)
    await tab_to("First name")
    await keys.type(person.first_name)
    await tab_to("Last name")
    await keys.type(person.last_name)
    await keys.press("Tab")
    await keys.press("ArrowDown")
    await tab_to("Date of birth")
    await keys.type(person.birth.isoformat())
    await tab_to("Save passenger")
    await keys.press("Space")
    await heading(page.playwright_page, "Payment")
    await tab_to("Card number")
    await keys.type(card.number)
    await tab_to("Expiry date")
    await keys.type(card.expiry)
    await tab_to("CVC")
    await keys.type(card.cvc)
    await keys.press("Enter")
    await expect(page.playwright_page.get_by_text("The flight is booked.").first).to_be_visible()
    assert (await airline.judge(episode, page, "")).success is True


async def test_a_branch_goes_on_from_a_snapshot_and_leaves_the_old_one_as_it_is(airline, page):
    one = task(airline, "cancel-booking")
    scenario = scenario_of(one, 5)
    live = page.playwright_page
    first = await airline.open(one, 5, page)
    await find_booking(live, scenario.reference)
    snapshot, address = airline.snapshot(first), live.url
    await live.get_by_role("link", name="Cancel booking").click()
    await live.get_by_role("textbox", name="Booking reference").fill(scenario.reference)
    await live.get_by_role("button", name="Cancel booking").click()
    await expect(live.get_by_text("Cancelled", exact=True)).to_be_visible()
    assert await airline.ended(page) is True

    second = await airline.restore(first, page, snapshot)
    assert second.session != first.session
    assert await airline.ended(page) is False
    await page.goto(address)
    await expect(live.get_by_text("Confirmed", exact=True)).to_be_visible()
    assert airline.snapshot(second) == snapshot
    assert (await airline.judge(second, page, "")).success is False
    assert (await airline.judge(first, page, "")).success is True
    with pytest.raises(DataError):
        await airline.restore(first, page, '{"nonsense": 1}')


async def test_every_place_comes_back_by_its_address_and_by_going_back(airline, page):
    one = task(airline, "book-flight")
    scenario = scenario_of(one, 3)
    live = page.playwright_page
    await airline.open(one, 3, page)
    await search(live, scenario)
    await choose(live, scenario, "Confirm flights")
    await heading(live, "Passenger details")
    await live.reload()
    await heading(live, "Passenger details")
    await live.go_back()
    await heading(live, "Choose flights")
    await live.go_back()
    await heading(live, "Find flights")
    await expect(live.get_by_role("combobox", name="From")).to_have_value("Oslo (OSL)")
    await expect(live.get_by_role("textbox", name="Return date")).to_have_value("2027-05-09")
    await live.go_forward()
    await heading(live, "Choose flights")


async def test_a_form_says_what_is_wrong_beside_the_field_and_puts_the_focus_there(airline, page):
    live = page.playwright_page
    await airline.open(task(airline, "find-flight"), 3, page)
    await live.get_by_role("combobox", name="From").fill("London")
    await live.get_by_role("button", name="Search flights").click()
    field = live.get_by_role("combobox", name="From")
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(field).to_have_accessible_description(re.compile("may be London .LGW. or London .LHR."))
    await expect(live.get_by_role("alert")).to_contain_text("entries need another look")


async def test_an_airport_is_suggested_and_taken_by_a_click(airline, page):
    live = page.playwright_page
    await airline.open(task(airline, "find-flight"), 3, page)
    field = live.get_by_role("combobox", name="To")
    await field.press_sequentially("lond")
    await expect(field).to_have_attribute("aria-expanded", "true")
    await live.get_by_role("option", name="London (LHR)").click()
    await expect(field).to_have_value("London (LHR)")
    await expect(live.get_by_role("option")).to_have_count(0)


async def test_a_page_shows_neither_the_instruction_nor_how_far_it_has_come(airline, page):
    one = task(airline, "find-booking")
    episode = await airline.open(one, 3, page)
    await find_booking(page.playwright_page, scenario_of(one, 3).reference)
    html = await page.html()
    assert episode.instruction not in html
    assert "progress" not in html
    assert "evaluate" not in html


async def test_a_page_elsewhere_still_belongs_to_its_session(airline, page):
    one = task(airline, "find-booking")
    await airline.open(one, 3, page)
    await find_booking(page.playwright_page, scenario_of(one, 3).reference)
    await page.goto("about:blank")
    assert await airline.ended(page) is True


async def test_a_page_without_a_session_has_ended_nothing(airline, page):
    await page.goto("about:blank")
    assert await airline.ended(page) is False


async def test_tasks_are_six_with_the_instruction_of_seed_0_as_their_sample(airline):
    assert [one.id for one in airline.tasks()] == [f"airline/{name}" for name in WAYS]
    for one in airline.tasks():
        assert one.seeded
        assert one.instruction == instruction(scenario_of(one, 0))


async def test_a_seed_out_of_range_is_refused(airline, page):
    with pytest.raises(UsageError, match="seed"):
        await airline.open(airline.tasks()[0], -1, page)


async def test_it_is_an_environment_that_keeps_state(airline):
    environment: Environment = airline
    assert isinstance(environment, KeepsState)


async def test_the_list_of_tasks_is_up_to_date():
    assert json.loads(TASKS.read_text(encoding="utf-8")) == task_list()
