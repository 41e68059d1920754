// What is shared by booking and rebooking: the search form, the tables of flights, and a flight in words.

import { airportField } from "./combobox.js";
import { dollars, el } from "./dom.js";
import { field, form, radios, textInput } from "./form.js";

const DATE_HINT = "Year, month, day: 2027-07-07";

// `fixed` keeps the kind of trip, for a booking that has one already.
export function searchForm(desk, start, send, { fixed = false } = {}) {
  const from = airportField("from", "from", desk.airports, start.from);
  const to = airportField("to", "to", desk.airports, start.to);
  const back = field("Return date", textInput("return", "return", start.return), { hint: DATE_HINT });
  const trip = fixed
    ? el("input", { type: "hidden", name: "trip", value: start.trip })
    : radios("Trip", "trip", "trip", [["return", "Return"], ["one-way", "One way"]], start.trip);
  const show = (kind) => { back.hidden = kind === "one-way"; };
  if (!fixed) trip.addEventListener("change", (event) => show(event.target.value));
  show(start.trip);
  return form("Search flights", send, trip,
    el("div", { class: "pair" },
      field("From", from.input, { hint: "City or airport code" }),
      field("To", to.input, { hint: "City or airport code" })),
    el("div", { class: "pair" },
      field("Departure date", textInput("departure", "departure", start.departure), { hint: DATE_HINT }), back));
}

// Tables of the flights found, with `chosen` numbers marked, and a total that follows the choice.
export function flightChoice(found, { chosen = {}, passengers = 1 } = {}) {
  const tables = [flightTable("outward", "Outward flights", found.outward_flights, found.departure_shown, chosen.outward, found)];
  if (found.trip === "return") {
    tables.push(flightTable("return", "Return flights", found.return_flights, found.return_shown, chosen.return,
      { from: found.to, to: found.from }));
  }
  const total = el("output", { class: "total" });
  const element = el("div", {}, ...tables, el("p", { class: "sum" }, "Total price: ", total));
  const prices = new Map([...found.outward_flights, ...found.return_flights].map((one) => [one.number, one.price]));
  const add = () => {
    const marked = [...element.querySelectorAll("input:checked")].map((one) => prices.get(one.value));
    const enough = marked.length === tables.length;
    total.textContent = enough ? dollars(passengers * marked.reduce((sum, one) => sum + one, 0)) : "choose your flights";
  };
  element.addEventListener("change", add);
  add();
  return element;
}

function flightTable(name, title, flights, date, chosen, { from, to }) {
  const caption = el("caption", {}, el("strong", {}, title), ` ${from} to ${to}, ${date}`);
  if (!flights.length) return el("p", { class: "alert" }, `There are no flights from ${from} to ${to} on ${date}.`);
  const rows = flights.map((flight, at) => {
    const id = `${name}-${at}`;
    const arrives = flight.arrives + (flight.next_day ? " next day" : "");
    const radio = el("input", {
      type: "radio", name, id, value: flight.number, checked: flight.number === chosen, "aria-describedby": `${name}-error`,
      "aria-label": `${flight.number}, departs ${flight.departs}, arrives ${arrives}, ${flight.duration}, ${dollars(flight.price)}`,
    });
    return el("tr", {},
      el("td", { class: "pick" }, radio),
      el("th", { scope: "row" }, el("label", { for: id }, flight.number)),
      el("td", { class: "time" }, flight.departs),
      el("td", {}, el("span", { class: "time" }, flight.arrives), flight.next_day ? el("small", {}, " next day") : null),
      el("td", {}, flight.duration),
      el("td", { class: "price" }, dollars(flight.price)));
  });
  const table = el("table", { class: "flights" }, caption,
    el("thead", {}, el("tr", {},
      el("th", { scope: "col" }, el("span", { class: "unseen" }, "Select")),
      ...["Flight", "Departs", "Arrives", "Duration"].map((text) => el("th", { scope: "col" }, text)),
      el("th", { scope: "col", class: "price" }, "Price"))),
    el("tbody", {}, rows));
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tbody tr");
    if (row && !event.target.closest("input, label")) row.querySelector("input").click();
  });
  return el("div", { role: "radiogroup", "aria-label": title, class: "field" }, table,
    el("p", { class: "error", id: `${name}-error`, "data-error": name }));
}

export function flightLine(name, flight) {
  return el("div", { class: "leg" },
    el("h3", {}, name),
    el("p", {}, el("strong", {}, `${flight.from} to ${flight.to}`), `, ${flight.date}`),
    el("p", {}, `${flight.number}: departs ${flight.departs}, arrives ${flight.arrives}${flight.next_day ? " next day" : ""}, ${flight.duration}`));
}

export function flightLines({ outward, return: back }) {
  return [flightLine("Outward flight", outward), back ? flightLine("Return flight", back) : null];
}
