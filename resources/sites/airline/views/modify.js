// Changing a booking: its passengers, or the flights it is for.

import { go, link, remember } from "../app.js";
import { el } from "../dom.js";
import { form } from "../form.js";
import { flightChoice, flightLines, searchForm } from "../journey.js";
import { get, post } from "../net.js";
import { passengerFields } from "../passenger.js";

export async function modifyBooking({ desk, parameters: [reference] }) {
  const booking = await post(`bookings/${reference}/open`, { part: "modify" });
  const people = booking.passengers.map((one, place) => {
    const save = form("Save passenger", async (values) => {
      await post(`bookings/${reference}/passengers/${place}`, values);
      await go(`/bookings/${reference}`, {}, { notice: "The passenger's details are saved." });
    }, passengerFields(desk, `passenger-${place + 1}`, one));
    if (booking.passengers.length > 1) {
      save.querySelector("button").textContent = `Save passenger ${one.first_name} ${one.last_name}`;
    }
    return el("section", { class: "card", "aria-labelledby": `person-${place}` },
      el("h2", { id: `person-${place}` }, `Passenger ${one.name}`), save);
  });
  return {
    title: `Modify booking ${reference}`,
    parts: [
      el("p", {}, link(`/bookings/${reference}`, "Back to the booking")),
      el("section", { class: "card", "aria-labelledby": "flights" }, el("h2", { id: "flights" }, "Flights"),
        ...flightLines(booking),
        el("div", { class: "actions" }, link(`/bookings/${reference}/flights`, "Change flights", {}, { class: "button" }))),
      ...people,
    ],
  };
}

export async function changeFlights({ desk, query, parameters: [reference] }) {
  const booking = await post(`bookings/${reference}/open`, { part: "modify" });
  const before = query.get("search");
  const start = before ? await get(`searches/${before}`) : booking.journey;
  const search = searchForm(desk, start, async (values) => {
    const found = await post("searches", { ...values, booking: reference });
    remember(`/bookings/${reference}/flights`, { search: found.search });
    await go(`/bookings/${reference}/results`, { search: found.search });
  }, { fixed: true });
  return {
    title: `Change flights of booking ${reference}`,
    parts: [
      el("p", {}, link(`/bookings/${reference}/modify`, "Back to modifying")),
      el("div", { class: "beside" },
        el("div", { class: "card" }, search),
        el("section", { class: "card summary", "aria-labelledby": "now" }, el("h2", { id: "now" }, "Booked now"), ...flightLines(booking))),
    ],
  };
}

export async function chooseOtherFlights({ query, parameters: [reference] }) {
  const [found, booking] = await Promise.all([get(`searches/${query.get("search")}`), get(`bookings/${reference}`)]);
  const same = (date, leg) => (leg && leg.date === date ? leg.number : "");
  const chosen = {
    outward: same(found.departure_shown, booking.outward),
    return: same(found.return_shown, booking.return),
  };
  const save = form("Save flights", async (values) => {
    await post(`bookings/${reference}/flights`, { ...values, search: found.search });
    await go(`/bookings/${reference}`, {}, { notice: "The flights are changed." });
  }, flightChoice(found, { chosen, passengers: booking.passengers.length }));
  return {
    title: `Choose flights for booking ${reference}`,
    parts: [
      el("p", {}, link(`/bookings/${reference}/flights`, "Change the search", { search: found.search })),
      el("div", { class: "card" }, save),
    ],
  };
}
