// The details of a passenger, as booking asks for them and modifying changes them.

import { el } from "./dom.js";
import { field, radios, select, textInput } from "./form.js";

export function passengerFields(desk, id, now = {}) {
  return [
    el("div", { class: "pair names" },
      field("Title", select("title", `${id}-title`, desk.titles, now.title)),
      field("First name", textInput("first_name", `${id}-first-name`, now.first_name)),
      field("Last name", textInput("last_name", `${id}-last-name`, now.last_name))),
    radios("Gender", "gender", `${id}-gender`, desk.genders.map((one) => [one, one]), now.gender),
    field("Date of birth", textInput("birth", `${id}-birth`, now.birth), { hint: "Year, month, day: 1984-05-31" }),
  ];
}
