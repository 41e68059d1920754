// A new booking after its flights are chosen: who flies, and the card.

import { go, link } from "../app.js";
import { dollars, el } from "../dom.js";
import { field, form, textInput } from "../form.js";
import { flightLines } from "../journey.js";
import { get, post } from "../net.js";
import { passengerFields } from "../passenger.js";

export function steps(now) {
  return el("ol", { class: "steps", "aria-label": "Steps of a booking" },
    ["Flights", "Passenger", "Payment"].map((text, at) => el("li", { "aria-current": at === now ? "step" : null }, text)));
}

export async function passengerDetails({ desk, parameters: [number] }) {
  const draft = await get(`drafts/${number}`);
  if (draft.reference) return finished(draft);
  const details = form("Save passenger", async (values) => {
    await post(`drafts/${number}/passenger`, values);
    await go(`/book/${number}/payment`);
  }, passengerFields(desk, "passenger", draft.passenger ?? {}));
  return {
    title: "Passenger details",
    parts: [
      steps(1),
      el("p", {}, link("/results", "Choose other flights", { search: draft.search })),
      el("div", { class: "beside" }, el("div", { class: "card" }, details), summary(draft)),
    ],
  };
}

export async function payment({ parameters: [number] }) {
  const draft = await get(`drafts/${number}`);
  if (draft.reference) return finished(draft);
  const again = el("p", {}, link(`/book/${number}/passenger`, "Change the passenger details"));
  if (!draft.passenger) return { title: "Payment", parts: [steps(2), el("p", { class: "alert" }, "The passenger's details are missing."), again] };
  const card = form("Book flight", async (values) => {
    const booking = await post(`drafts/${number}/payment`, values);
    await go(`/bookings/${booking.reference}`, {}, { notice: `The flight is booked. The reference is ${booking.reference}.` });
  },
  el("p", { class: "hint boxed" }, "This is a pretended payment: nothing is charged. Use test card numbers only, never a real card."),
  field("Card number", textInput("number", "card-number", "", { inputmode: "numeric" }), { hint: "16 digits" }),
  el("div", { class: "pair" },
    field("Expiry date", textInput("expiry", "card-expiry", "", { inputmode: "numeric" }), { hint: "MM/YY" }),
    field("CVC", textInput("cvc", "card-cvc", "", { inputmode: "numeric" }), { hint: "3 digits" })));
  return {
    title: "Payment",
    parts: [steps(2), again, el("div", { class: "beside" }, el("div", { class: "card" }, card), summary(draft))],
  };
}

function summary(draft) {
  return el("section", { class: "card summary", "aria-labelledby": "summary" },
    el("h2", { id: "summary" }, "Your booking"), ...flightLines(draft),
    draft.passenger ? el("p", {}, `Passenger: ${draft.passenger.name}`) : null,
    el("p", { class: "sum" }, `Total price: ${dollars(draft.price)}`));
}

function finished(draft) {
  return {
    title: "This flight is booked",
    parts: [el("p", {}, "It has the reference ", link(`/bookings/${draft.reference}`, draft.reference), ".")],
  };
}
