// Forms: labelled fields with their hints, and what was wrong with them after sending.

import { el } from "./dom.js";
import { Refusal } from "./net.js";

// A field with a label, a hint and a place for its error. `input` may be any element with an id.
export function field(label, input, { hint = "", name = input.name } = {}) {
  const described = [];
  const parts = [el("label", { for: input.id }, label)];
  if (hint) {
    parts.push(el("p", { class: "hint", id: `${input.id}-hint` }, hint));
    described.push(`${input.id}-hint`);
  }
  described.push(`${input.id}-error`);
  input.setAttribute("aria-describedby", described.join(" "));
  const error = el("p", { class: "error", id: `${input.id}-error`, "data-error": name });
  return el("div", { class: "field" }, ...parts, input.closest(".combobox") ?? input, error);
}

export function textInput(name, id, value = "", properties = {}) {
  return el("input", { type: "text", name, id, value, autocomplete: "off", spellcheck: "false", ...properties });
}

export function select(name, id, choices, value = "") {
  const options = choices.map((one) => el("option", { value: one, selected: one === value }, one));
  return el("select", { name, id }, value ? null : el("option", { value: "" }, "Choose"), options);
}

export function radios(legend, name, id, choices, value = "") {
  const rows = choices.map(([one, text], at) =>
    el("span", { class: "choice" },
      el("input", {
        type: "radio", name, id: `${id}-${at}`, value: one, checked: one === value, "aria-describedby": `${id}-error`,
      }),
      el("label", { for: `${id}-${at}` }, text)));
  return el("fieldset", { class: "field choices", id }, el("legend", {}, legend), ...rows,
    el("p", { class: "error", id: `${id}-error`, "data-error": name }));
}

// A form that sends its values once at a time and shows what the server had against them.
export function form(button, send, ...parts) {
  const problem = el("p", { class: "alert", role: "alert", hidden: true });
  const submit = el("button", { type: "submit", class: "primary" }, button);
  const element = el("form", { novalidate: true }, problem, ...parts, el("div", { class: "actions" }, submit));
  let sending = false;
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    submit.setAttribute("aria-disabled", "true");
    clear(element, problem);
    try {
      await send(Object.fromEntries(new FormData(element)), element);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      show(element, problem, error);
    } finally {
      sending = false;
      submit.removeAttribute("aria-disabled");
    }
  });
  return element;
}

function clear(element, problem) {
  problem.hidden = true;
  problem.textContent = "";
  for (const one of element.querySelectorAll("[data-error]")) one.textContent = "";
  for (const one of element.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
}

function show(element, problem, refusal) {
  let first = null;
  const unplaced = [];
  for (const [name, text] of Object.entries(refusal.problems)) {
    const inputs = [...element.querySelectorAll(`[name="${name}"]`)];
    const place = element.querySelector(`[data-error="${name}"]`);
    if (place) place.textContent = text;
    else unplaced.push(text);
    for (const input of inputs) input.setAttribute("aria-invalid", "true");
    first ??= inputs[0];
  }
  const count = Object.keys(refusal.problems).length;
  const said = count === 0 ? refusal.message : count === 1 ? "One entry needs another look." : `${count} entries need another look.`;
  problem.textContent = [said, ...unplaced].join(" ");
  problem.hidden = false;
  if (first) first.focus();
  else problem.scrollIntoView({ block: "nearest" });
}
