// Tells what a person does in a document: clicks, typing, choosing, keys. Lives in our world; only trusted events count.
// Each human action is reported once, as the action that would do it again; what only prepares another is left out.
(() => {
  if (globalThis.__backstepDemonstration) return;

  const walker = globalThis.__backstep;
  const dirty = new Set();   // fields that were typed into and not told yet
  const told = new WeakMap();
  const REST = 200;          // milliseconds without a key after which the page is worth a look
  const DWELL = 60;          // milliseconds on an element that no reading shows yet, after which it is too
  const met = new WeakMap(); // element -> the last reading without it
  let resting = 0, dwelling = 0;
  let on = false;

  function tell(kind, el, more = {}) {
    if (!el) return;
    globalThis.__backstepReported(JSON.stringify({
      kind, ref: walker.known(el), label: walker.label(el), xpath: walker.xpath(el), ...more,
    }));
  }

  const first = event => event.composedPath().find(one => one.nodeType === 1);
  const isChoice = el => el?.tagName === "INPUT" && ["checkbox", "radio"].includes(el.type);
  const NO_TEXT = ["checkbox", "radio", "button", "submit", "reset", "image", "file", "range", "color", "hidden"];
  const isText = el => el?.tagName === "TEXTAREA" || (el?.tagName === "INPUT" && !NO_TEXT.includes(el.type));
  const editable = el => el?.closest?.("[contenteditable=''], [contenteditable=true]") ?? null;
  const valueOf = el => "value" in el ? el.value : el.textContent;

  function typed(el) {
    if (!dirty.delete(el) || told.get(el) === valueOf(el)) return;   // Enter tells it before the change does.
    const text = valueOf(el);
    told.set(el, text);
    tell("type", el, walker.isSecret(el)
      ? { text: walker.bullets(text), secret: text, place: `${location.origin} ${walker.xpath(el)}` } : { text });
  }

  function flush() { for (const el of [...dirty]) typed(el); }

  // What is used by a click: of a list that listens for its entries, the entry.
  function used(el) {
    const nearest = walker.nearest(el);
    if (!/^(UL|OL|TABLE|TBODY|TR|NAV|MENU)$/.test(nearest.tagName)) return nearest;
    for (let one = el; one && one !== nearest; one = one.parentElement) if (walker.usable(one)) return one;
    return nearest;
  }

  // Enter in a field of a form clicks its button: that is told as the key.
  function bySending(event) {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    return event.detail === 0 && active !== first(event) && isText(active);
  }

  function onClick(event) {
    const el = first(event);
    if (bySending(event)) return;
    if (!el || isText(el) || editable(el) || isChoice(el)) return;   // Told when something is typed or chosen.
    if (el.closest("select, option")) return;
    const label = el.closest("label");
    if (label?.control && label.control !== el && !walker.nearest(el).matches("a, button")) {
      if (isChoice(label.control) || isText(label.control)) return;
    }
    flush();
    tell("click", used(el), { ...placeOf(event, used(el)), keys: heldAt(event) });
  }

  // In a drawing or a picture it matters where it was clicked.
  function placeOf(event, el) {
    if (!/^(canvas|svg|img|object|embed)$/i.test(el.tagName) || event.detail === 0 && event.type === "click") return {};
    const box = el.getBoundingClientRect();
    const part = (value, from, size) => Math.min(Math.max((value - from) / size, 0), 1).toFixed(4);
    return box.width && box.height ? { at: `${part(event.clientX, box.left, box.width)},${part(event.clientY, box.top, box.height)}` } : {};
  }

  function heldAt(event) {
    return [event.ctrlKey && "Control", event.shiftKey && "Shift", event.altKey && "Alt", event.metaKey && "Meta"].filter(Boolean).join("+");
  }

  function onMenu(event) {
    const el = first(event);
    if (!el) return;
    flush();
    tell("right_click", used(el), placeOf(event, used(el)));
  }

  const chosen = new WeakMap();   // select of several -> its options that were chosen when it was last looked at
  const isSeveral = el => el?.tagName === "SELECT" && el.multiple;

  function beforeChoosing(event) {
    const el = first(event)?.closest?.("select");
    if (isSeveral(el) && !chosen.has(el)) chosen.set(el, new Set(el.selectedOptions));
  }

  function choseSeveral(el) {
    const before = chosen.get(el) ?? new Set([...el.options].filter(one => one.defaultSelected));
    const now = new Set(el.selectedOptions);
    chosen.set(el, now);
    const said = (one, selected) => tell("select", el, { text: one.label || one.value, selected });
    for (const one of before) if (!now.has(one)) said(one, false);
    for (const one of now) if (!before.has(one)) said(one, true);
  }

  function onInput(event) {
    const el = isText(first(event)) ? first(event) : editable(first(event));
    if (!el) return;
    dirty.add(el);
    clearTimeout(resting);
    resting = setTimeout(() => tell("look", el, { typing: true }), REST);
  }

  // What came up since the page was read, such as a list under a field or a menu, is read before it is clicked.
  function onMet(event) {
    clearTimeout(dwelling);
    const el = walker.nearest(first(event) ?? document.body);
    if (el === document.body || walker.shown(el) || met.get(el) === walker.lastReading()) return;
    dwelling = setTimeout(() => {
      if (walker.shown(el)) return;
      met.set(el, walker.lastReading());
      tell("look", el, { typing: dirty.size > 0 });
    }, DWELL);
  }

  function onChange(event) {
    const el = first(event);
    if (isChoice(el)) tell("check", el, { checked: el.checked });
    else if (isSeveral(el)) choseSeveral(el);
    else if (el?.tagName === "SELECT") {
      const chosen = el.selectedOptions[0];
      if (chosen) tell("select", el, { text: chosen.label || chosen.value });
    } else if (el?.tagName === "INPUT" && ["range", "color"].includes(el.type)) tell("type", el, { text: el.value });
    else if (isText(el)) typed(el);   // What a script put there by itself was not typed.
  }

  const ALONE = ["Escape", "Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Delete", "Backspace"];

  function onKey(event) {
    const el = first(event);
    beforeChoosing(event);
    if (["Control", "Shift", "Alt", "Meta", "Tab"].includes(event.key)) return;
    const inText = isText(el) || editable(el);
    const chord = event.ctrlKey || event.metaKey || event.altKey;
    if (inText) {
      // Editing shows in what the field holds; Enter does more, but in a text of several lines.
      const sends = event.key === "Enter" && el.tagName === "INPUT";
      if (!sends && event.key !== "Escape") return;
      flush();
    } else if (!chord) {
      if (!ALONE.includes(event.key)) return;
      // They press, move within or choose: that is told as a click or a change.
      if (event.key === "Enter" && el?.matches("a, button, select, summary, input")) return;
      if (event.key.startsWith("Arrow") && (isChoice(el) || el?.matches("select, input"))) return;
    }
    const parts = [event.ctrlKey && "Control", event.altKey && "Alt", event.metaKey && "Meta", event.shiftKey && chord && "Shift"];
    tell("press", el, { keys: [...parts.filter(Boolean), event.key === " " ? "Space" : event.key].join("+") });
  }

  const listeners = { click: onClick, input: onInput, change: onChange, keydown: onKey,
    pointerover: onMet, focusin: onMet, pointerdown: beforeChoosing, contextmenu: onMenu,
    dblclick: event => tell("double_click", used(first(event)), placeOf(event, used(first(event)))),
    focusout: event => { const el = editable(first(event)); if (el) typed(el); } };

  function set(wanted) {
    if (wanted === on) return;
    on = wanted;
    for (const [name, listener] of Object.entries(listeners)) {
      const trusted = listener.trusted ??= event => { if (event.isTrusted) listener(event); };
      if (on) addEventListener(name, trusted, true);
      else removeEventListener(name, trusted, true);
    }
    if (!on) { clearTimeout(resting); clearTimeout(dwelling); }
  }

  globalThis.__backstepDemonstration = Object.freeze({ set, flush });
})();
