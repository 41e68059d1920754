// Builds elements, and says things aloud.

export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function announce(text) {
  const place = document.getElementById("announcer");
  // Emptied first, so that the same words are spoken again.
  place.textContent = "";
  requestAnimationFrame(() => { place.textContent = text; });
}

export const dollars = (amount) => `$${amount.toLocaleString("en-US")}`;

export function definition(pairs) {
  return el("dl", {}, pairs.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
}
