// Cancelling a booking; the reference is typed once more, so that it is not done by accident.

import { go, link } from "../app.js";
import { el } from "../dom.js";
import { field, form, textInput } from "../form.js";
import { flightLines } from "../journey.js";
import { post } from "../net.js";

export async function cancelBooking({ parameters: [reference] }) {
  const booking = await post(`bookings/${reference}/open`, { part: "cancel" });
  const confirm = form("Cancel booking", async (values) => {
    await post(`bookings/${reference}/cancellation`, values);
    await go(`/bookings/${reference}`, {}, { notice: `Booking ${reference} is cancelled.` });
  },
  el("p", {}, "This cannot be undone. To confirm, type the reference of the booking again."),
  field("Booking reference", textInput("reference", "reference", "", { maxlength: "12", class: "short" })));
  confirm.querySelector("button").classList.add("danger");
  return {
    title: `Cancel booking ${reference}`,
    parts: [
      el("p", {}, link(`/bookings/${reference}`, "Keep the booking")),
      el("div", { class: "beside" },
        el("div", { class: "card" }, confirm),
        el("section", { class: "card summary", "aria-labelledby": "flights" }, el("h2", { id: "flights" }, "What is cancelled"),
          ...flightLines(booking), el("p", {}, booking.passengers.map((one) => one.name).join(", ")))),
    ],
  };
}
