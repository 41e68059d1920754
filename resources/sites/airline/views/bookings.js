// Finding a booking by its reference, and what it holds.

import { go, link } from "../app.js";
import { definition, dollars, el } from "../dom.js";
import { field, form, textInput } from "../form.js";
import { flightLines } from "../journey.js";
import { get, post } from "../net.js";

export async function findBooking() {
  const lookup = form("Search", async (values) => {
    const booking = await post("lookups", values);
    await go(`/bookings/${booking.reference}`);
  }, field("Booking reference", textInput("reference", "reference", "", { maxlength: "12", class: "short" }), { hint: "6 letters and digits" }));
  return { title: "Find a booking", parts: [el("div", { class: "card narrow" }, lookup)] };
}

export async function showBooking({ parameters: [reference] }) {
  const booking = await get(`bookings/${reference}`);
  const open = booking.status === "confirmed";
  return {
    title: `Booking ${reference}`,
    parts: [
      el("p", {}, el("span", { class: `badge ${booking.status}` }, open ? "Confirmed" : "Cancelled")),
      open ? el("div", { class: "actions" },
        link(`/bookings/${reference}/modify`, "Modify booking", {}, { class: "button" }),
        link(`/bookings/${reference}/cancel`, "Cancel booking", {}, { class: "button danger" })) : null,
      el("div", { class: "beside" },
        el("section", { class: "card", "aria-labelledby": "flights" }, el("h2", { id: "flights" }, "Flights"), ...flightLines(booking)),
        el("section", { class: "card", "aria-labelledby": "payment" }, el("h2", { id: "payment" }, "Payment"),
          definition([["Price", dollars(booking.price)], ["Card", `ending in ${booking.card_ending}`]]))),
      el("section", { class: "card", "aria-labelledby": "passengers" },
        el("h2", { id: "passengers" }, booking.passengers.length === 1 ? "Passenger" : "Passengers"),
        ...booking.passengers.map((one) => el("div", { class: "person" },
          el("h3", {}, one.name), definition([["Gender", one.gender], ["Date of birth", one.birth_shown]])))),
    ],
  };
}
