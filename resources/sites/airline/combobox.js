// A text field that suggests airports: arrows choose, Enter takes, Escape closes; a code may simply be typed.

import { announce, el } from "./dom.js";

const MOST = 8;

export function airportField(name, id, airports, value = "") {
  const input = el("input", {
    type: "text", name, id, value, role: "combobox", autocomplete: "off", spellcheck: "false",
    "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-list`,
  });
  const list = el("ul", { role: "listbox", id: `${id}-list`, "aria-label": "Airports", hidden: true });
  const box = el("div", { class: "combobox" }, input, list);
  let offered = [];
  let active = -1;

  function open() {
    offered = matching(airports, input.value);
    // One that is written out already needs no suggestion.
    if (offered.length === 1 && offered[0].label === input.value) offered = [];
    list.replaceChildren(...offered.map((airport, at) =>
      el("li", { role: "option", id: `${id}-option-${at}`, "aria-selected": "false" },
        el("span", {}, airport.label),
        el("small", {}, [airport.name, airport.country].filter(Boolean).join(", ")))));
    list.hidden = offered.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark(-1);
    if (input.value.trim()) announce(list.hidden ? "" : `${offered.length} ${offered.length === 1 ? "airport" : "airports"} suggested.`);
  }

  function close() {
    list.hidden = true;
    offered = [];
    input.setAttribute("aria-expanded", "false");
    mark(-1);
  }

  function mark(at) {
    active = at;
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === at)));
    if (at < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", `${id}-option-${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    }
  }

  function take(at) {
    input.value = offered[at].label;
    close();
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  input.addEventListener("input", () => (input.value.trim() ? open() : close()));
  input.addEventListener("blur", () => {
    const [only, ...more] = input.value.trim() ? matching(airports, input.value) : [];
    if (only && more.length === 0) input.value = only.label;
    close();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) open();
      if (!offered.length) return;
      const last = offered.length - 1;
      if (event.key === "ArrowDown") mark(active === last ? 0 : active + 1);
      else mark(active <= 0 ? last : active - 1);
    } else if (event.key === "Enter" && !list.hidden) {
      // What is suggested alone is meant; several leave it to the arrows, and nothing is sent by mistake.
      event.preventDefault();
      if (active >= 0) take(active);
      else if (offered.length === 1) take(0);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
  // Before the field loses the focus, which would close the list under the pointer.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take([...list.children].indexOf(option));
  });
  return { input, box };
}

// The airports that a text may mean: its code alone where it is one, else by the beginnings of words.
function matching(airports, text) {
  const wanted = text.trim().toLowerCase().replace(/\s+/g, " ");
  const exact = airports.filter(({ code, label }) => code.toLowerCase() === wanted || label.toLowerCase() === wanted);
  if (exact.length) return exact;
  const words = ({ code, label, name, country }) => `${label} ${name} ${code} ${country}`.toLowerCase();
  const starts = airports.filter((one) => words(one).startsWith(wanted));
  const inside = airports.filter((one) => !starts.includes(one) && new RegExp(`(^|[ (])${escape(wanted)}`).test(words(one)));
  return [...starts, ...inside].slice(0, MOST);
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
