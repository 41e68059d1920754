// The router: the address says where one is, and each place is drawn from the server's data alone.

import { announce, el } from "./dom.js";
import { get, Refusal } from "./net.js";
import { findFlights, flightsFound } from "./views/flights.js";
import { passengerDetails, payment } from "./views/book.js";
import { findBooking, showBooking } from "./views/bookings.js";
import { cancelBooking } from "./views/cancel.js";
import { changeFlights, chooseOtherFlights, modifyBooking } from "./views/modify.js";

const PLACES = [
  [/^\/$/, findFlights],
  [/^\/results$/, flightsFound],
  [/^\/book\/(\d+)\/passenger$/, passengerDetails],
  [/^\/book\/(\d+)\/payment$/, payment],
  [/^\/bookings$/, findBooking],
  [/^\/bookings\/([A-Z0-9]{6})$/, showBooking],
  [/^\/bookings\/([A-Z0-9]{6})\/modify$/, modifyBooking],
  [/^\/bookings\/([A-Z0-9]{6})\/flights$/, changeFlights],
  [/^\/bookings\/([A-Z0-9]{6})\/results$/, chooseOtherFlights],
  [/^\/bookings\/([A-Z0-9]{6})\/cancel$/, cancelBooking],
];

const main = document.getElementById("main");
let desk = null;
let drawing = 0;

// The address of a place; the scenario stays in it.
export function address(path, more = {}) {
  const query = new URLSearchParams();
  const scenario = new URLSearchParams(location.search).get("scenario");
  if (scenario) query.set("scenario", scenario);
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

export function link(path, text, more = {}, properties = {}) {
  return el("a", { href: address(path, more), "data-inside": true, ...properties }, text);
}

// Go to a place; `notice` is shown there once it is drawn.
export function go(path, more = {}, { notice = "" } = {}) {
  history.pushState({ notice }, "", address(path, more));
  return draw({ moved: true });
}

// Note in the address what a form was sent with, so that going back finds it filled in.
export function remember(path, more) {
  history.replaceState(history.state, "", address(path, more));
}

async function draw({ moved }) {
  const turn = ++drawing;
  const path = location.pathname;
  const [pattern, view] = PLACES.find(([one]) => one.test(path)) ?? [null, null];
  main.setAttribute("aria-busy", "true");
  let title, parts;
  try {
    desk ??= await get("desk");
    if (!view) throw new Refusal(404, { message: "There is no such page." });
    const query = new URLSearchParams(location.search);
    ({ title, parts } = await view({ desk, query, parameters: path.match(pattern).slice(1) }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    title = "This page cannot be shown";
    parts = [
      el("p", { class: "alert", role: "alert" }, error.message),
      el("p", {}, link("/", "Find flights"), " or ", link("/bookings", "find a booking"), "."),
    ];
  } finally {
    // A later move has taken over otherwise.
    if (turn === drawing) main.removeAttribute("aria-busy");
  }
  if (turn !== drawing) return;
  const heading = el("h1", { tabindex: "-1" }, title);
  const notice = history.state?.notice;
  main.replaceChildren(heading, notice ? el("p", { class: "notice" }, notice) : "", ...parts.filter(Boolean));
  document.title = `${title} – Greylag Air service desk`;
  document.getElementById("today").textContent = desk ? `Today: ${desk.today}` : "";
  const place = path.startsWith("/bookings") ? "/bookings" : "/";
  for (const one of document.querySelectorAll("[data-to]")) {
    one.href = address(one.dataset.to);
    if (one.closest("nav") && one.dataset.to === place) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  if (moved) {
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
    announce(notice || title);
  }
}

document.addEventListener("click", (event) => {
  const found = event.target.closest("a[data-inside], a[data-to]");
  if (!found || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (found.href !== location.href) history.pushState({}, "", found.href);
  draw({ moved: true });
});

// A click on the skip link moves within the page, which is no other place.
let shown = location.pathname + location.search;
addEventListener("popstate", () => {
  const now = location.pathname + location.search;
  if (now === shown && location.hash) return;
  draw({ moved: true });
});
new MutationObserver(() => { shown = location.pathname + location.search; }).observe(main, { childList: true });

draw({ moved: false });
