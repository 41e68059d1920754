// Finding flights for a new booking, and choosing among them.

import { go, link, remember } from "../app.js";
import { el } from "../dom.js";
import { form } from "../form.js";
import { flightChoice, searchForm } from "../journey.js";
import { get, post } from "../net.js";
import { steps } from "./book.js";

export async function findFlights({ desk, query }) {
  const before = query.get("search");
  const start = before ? await get(`searches/${before}`) : { trip: "return" };
  const search = searchForm(desk, start, async (values) => {
    const found = await post("searches", values);
    remember("/", { search: found.search });
    await go("/results", { search: found.search });
  });
  return {
    title: "Find flights",
    parts: [el("p", {}, `Flights are on sale until ${desk.last_day}.`), el("div", { class: "card" }, search)],
  };
}

export async function flightsFound({ query }) {
  const found = await get(`searches/${query.get("search")}`);
  const again = el("p", {}, link("/", "Change the search", { search: found.search }));
  const choice = form("Confirm flights", async (values) => {
    const draft = await post("drafts", { ...values, search: found.search });
    await go(`/book/${draft.draft}/passenger`);
  }, flightChoice(found));
  return { title: "Choose flights", parts: [steps(0), again, el("div", { class: "card" }, choice)] };
}
