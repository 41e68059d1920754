// What tells an element from others beside its name: what a person can do with it, its states, its value, its looks.
const traits = (() => {
  const { LISTENS, SKIP, isSecret, bullets, parentOf, shows, squash, cut, VISIBLE } = elements;
  const { FIELD, content } = names;

  const CLICKABLE = new Set(["button", "link", "combobox", "option", "tab", "menuitem", "menuitemcheckbox", "menuitemradio",
    "checkbox", "radio", "switch", "treeitem", "gridcell"]);
  const CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
  const TEXT_INPUT = new Set(["", "text", "search", "email", "url", "tel", "password", "number", "date", "time",
    "datetime-local", "month", "week", "color", "range"]);
  const VALUE_INPUT = new Set(["date", "time", "datetime-local", "month", "week", "color", "range"]);
  const CLICK_EVENTS = ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "dblclick"];
  const DRAG_EVENTS = ["mousedown", "pointerdown", "dragstart", "touchstart"];

  function colour(css) {
    const m = /rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)/.exec(css);
    if (!m || m[4] === "0") return "";
    const [r, g, b] = [m[1] / 255, m[2] / 255, m[3] / 255];
    const high = Math.max(r, g, b), low = Math.min(r, g, b), span = high - low;
    const light = (high + low) / 2, saturation = span ? span / (1 - Math.abs(2 * light - 1)) : 0;
    if (light > 0.97) return "white";
    if (light < 0.06) return "black";
    if (saturation < 0.12) return light > 0.82 ? "light grey" : light < 0.3 ? "dark grey" : "grey";
    const turn = high === r ? ((g - b) / span + 6) % 6 : high === g ? (b - r) / span + 2 : (r - g) / span + 4;
    const hue = turn * 60;
    if (hue >= 10 && hue < 45 && light < 0.42) return "brown";
    if ((hue < 15 || hue >= 330) && light > 0.72) return "pink";
    if (hue >= 290 && hue < 330) return light > 0.6 || saturation > 0.9 ? (light < 0.4 ? "purple" : "magenta") : "purple";
    return hue < 15 ? "red" : hue < 45 ? "orange" : hue < 68 ? "yellow" : hue < 165 ? "green"
      : hue < 200 ? "cyan" : hue < 258 ? "blue" : hue < 290 ? "purple" : "red";
  }

  function listens(el, types) {
    const known = el[LISTENS];
    return known ? types.some(type => known.includes(type)) : false;
  }

  function uses(el, kind, pointer) {
    const found = [];
    const tag = el.tagName;
    if (tag === "INPUT") {
      if (el.type === "file") return ["upload"];
      if (el.type === "checkbox" || el.type === "radio") return ["click", "check"];
      if (TEXT_INPUT.has(el.type)) return el.readOnly ? ["click"] : ["click", "type"];
      return ["click"];
    }
    if (tag === "SELECT") return ["select", "click"];
    if (tag === "TEXTAREA") return ["click", "type"];
    if (tag === "OPTION") return [];
    if (kind === "textbox" || kind === "searchbox") {
      if (el.isContentEditable || editors.editorOf(el)) return ["click", "type"];
      return el.getAttribute("aria-readonly") === "true" && el.tabIndex < 0 ? [] : ["click"];  // It only shows what was chosen.
    }
    if (kind === "slider" && el.hasAttribute("aria-valuenow")) found.push("type");
    if (!pointer && !CLICKABLE.has(kind) && !el[LISTENS] && !el.hasAttributes() && tag !== "SUMMARY") return found;
    const clickable = CLICKABLE.has(kind) || tag === "SUMMARY" || tag === "VIDEO" || tag === "AUDIO"
      || el.hasAttribute("onclick") || el.hasAttribute("onmousedown") || el.hasAttribute("data-onclick")
      || (el.tabIndex >= 0 && el.hasAttribute("tabindex")) || listens(el, CLICK_EVENTS) || pointer;
    if (clickable) found.unshift("click");
    if (CHECKABLE.has(kind)) found.push("check");
    if (el.isContentEditable && el.getAttribute("contenteditable") !== null) found.push("type");
    const words = typeof el.className === "string" ? el.className : el.getAttribute("class") || "";
    if (el.getAttribute("draggable") === "true" || /\b(ui-draggable|ui-sortable-handle|ui-slider-handle|draggable)\b/.test(words)
        || (listens(el, DRAG_EVENTS) && !listens(el, ["click"]) && !CLICKABLE.has(kind))) found.push("drag");
    return found;
  }

  // Chips, days and the like that tell only by a class that they are chosen. A class `active` may also say that the pointer
  // or the keys are there: it counts on chips alone.
  const CHOSEN = /(?:^|[\s_-])(?:is-)?(?:selected|checked)(?=\s|$)/, NOT_CHOSEN = /(?:not|non|un|de|no)[_-]?(?:selected|checked)(?=\s|$)/;
  const CHIP = /(?:^|[\s_-])(?:chips?|pill|tag)(?=[\s_-]|$)/, ACTIVE = /(?:^|[\s_-])(?:is-)?(?:active|on)(?=\s|$)/;

  const CHOSEN_KINDS = new Set(["generic", "button", "link", "listitem", "option"]);

  function isChosen(el, kind, aria) {
    if (!CHOSEN_KINDS.has(kind) || ["pressed", "checked", "current"].some(word => aria(word) !== null)) return false;
    const words = (el.getAttribute("class") || "").toLowerCase();
    if (el.dataset.selected === "true" || el.dataset.state === "selected") return true;
    return CHOSEN.test(words) && !NOT_CHOSEN.test(words) || CHIP.test(words) && ACTIVE.test(words);
  }

  const OPENS = new Set(["DETAILS", "SUMMARY", "DIALOG"]);

  // `barred` tells that a box round it is disabled for assistive technology, and with it what it holds.
  function states(el, kind, active, barred) {
    const found = [];
    if (el === active && el !== document.body) found.push("focused");
    const field = FIELD.has(el.tagName);
    if (kind === "heading") found.push("level " + (el.getAttribute("aria-level") || /^H([1-6])$/.exec(el.tagName)?.[1] || 2));
    if (!field && !OPENS.has(el.tagName) && !el.hasAttributes() && !barred) return found;
    // Most have no such attribute: one look at their names is cheaper than one for each.
    const aria = el.getAttributeNames().some(word => word.startsWith("aria-")) ? word => el.getAttribute("aria-" + word) : () => null;
    const [disabled, unfit] = field && el.matches(":disabled,:user-invalid") ? [el.matches(":disabled"), el.matches(":user-invalid")] : [];
    if ("checked" in el && (el.type === "checkbox" || el.type === "radio")) {
      if (el.indeterminate) found.push("mixed"); else if (el.checked) found.push("checked");
    } else if (aria("checked") === "true") found.push("checked");
    else if (aria("checked") === "mixed") found.push("mixed");
    if (aria("disabled") === "true" || disabled || barred) found.push("disabled");
    if (aria("expanded") === "true" || (el.tagName === "DETAILS" && el.open) || (el.tagName === "DIALOG" && el.open)) found.push("expanded");
    else if (aria("expanded") === "false" || (el.tagName === "DETAILS" && !el.open)) found.push("collapsed");
    if (el.tagName === "SUMMARY" && !aria("expanded") && el.parentElement?.tagName === "DETAILS") found.push(el.parentElement.open ? "expanded" : "collapsed");
    if (aria("selected") === "true" || aria("selected") === null && isChosen(el, kind, aria)) found.push("selected");
    if (aria("pressed") === "true") found.push("pressed");
    else if (aria("pressed") === "mixed") found.push("mixed");
    if (aria("current") && aria("current") !== "false") found.push("current");
    if (el.readOnly && kind !== "button" || aria("readonly") === "true") found.push("readonly");
    if (el.required || aria("required") === "true") found.push("required");
    const invalid = aria("invalid");
    if (invalid ? invalid !== "false" : unfit) found.push("invalid");
    if (aria("busy") === "true") found.push("busy");
    if (GRIDDED.has(kind)) placed(kind, aria, found);
    return found;
  }

  // Boxes whose neighbours are others like them, and not their labels.
  const HOLDERS = new Set(["rowgroup", "list", "listbox", "listitem", "menu", "tablist", "tabpanel", "tree"]);
  const GRIDDED = new Set(["table", "grid", "treegrid", "row", "cell", "gridcell", "columnheader", "rowheader", "treeitem"]);

  // Where a part of a table or tree stands in the whole, of which often only a piece is in the page.
  function placed(kind, aria, found) {
    const number = word => /^\d+$/.test(aria(word) || "") ? aria(word) : "";
    const sort = aria("sort");
    if (sort && sort !== "none") found.push(sort === "other" ? "sorted" : "sorted " + sort);
    if (number("level")) found.push("level " + number("level"));
    for (const [one, many] of [["row", "rows"], ["col", "columns"]]) {
      const count = aria(one + "count");
      if (number(one + "count")) found.push(`${count} ${many}`);
      else if (count === "-1") found.push(`unknown number of ${many}`);
      if (number(one + "index")) found.push(`${one === "col" ? "column" : one} ${number(one + "index")}`);
    }
  }

  // The text of an editable box by lines: a paragraph is one, whatever room is left round it.
  function broken(el) {
    const blocks = Array.from(el.childNodes).every(node => node.nodeType !== 3 || !/\S/.test(node.data))
      && Array.from(el.children, one => getComputedStyle(one).display).every(display => display !== "inline" && display !== "contents");
    const text = blocks ? Array.from(el.children, one => (one.innerText || "").replace(/\n$/, "")).join("\n") : el.innerText || "";
    return text.replace(/\u00a0/g, " ").replace(/[^\S\n]+\n/g, "\n").replace(/^\n+|\s+$/g, "");
  }

  function value(el, kind, editor) {
    if (editor) return editors.read(editor);
    if (isSecret(el)) return bullets(el.value);
    if (el.tagName === "INPUT") {
      if (el.type === "file") return Array.from(el.files || [], f => f.name).join(", ");
      if (kind === "combobox" && el.value === "") return faces.chosen(el)?.text ?? "";
      return TEXT_INPUT.has(el.type) ? el.value : "";
    }
    if (el.tagName === "TEXTAREA") return el.value;
    if (el.tagName === "SELECT") return Array.from(el.selectedOptions, o => squash(o.label)).join(", ");
    if (el.tagName === "PROGRESS" || el.tagName === "METER") return String(el.value);
    if (el.isContentEditable && el.getAttribute("contenteditable") !== null) return broken(el);
    if (kind === "combobox" && !el.querySelector("input,textarea")) return el.getAttribute("aria-valuetext") || content(el);
    return el.getAttribute("aria-valuetext") || el.getAttribute("aria-valuenow") || "";
  }

  function detail(el, kind, css, named, used, box, editor) {
    const parts = [];
    if (kind === "graphics-symbol" || (el.namespaceURI === "http://www.w3.org/2000/svg" && el.tagName === "text")) {
      const fill = colour(css().fill) || colour(css().stroke);
      const shape = el.tagName === "rect" ? "rectangle" : el.tagName === "polygon" ? polygon(el) : el.tagName;
      parts.push(`${fill ? fill + " " : ""}${shape} ${Math.round(box.width)}×${Math.round(box.height)} at ${Math.round(box.x)},${Math.round(box.y)}`);
    } else if (used && !named) {
      const icon = iconOf(el);
      if (icon) parts.push("icon " + icon);
      const holds = GRIDDED.has(kind) || HOLDERS.has(kind) || !FIELD.has(el.tagName) && content(el);
      const beside = icon || editor || holds ? "" : besideOf(el);
      if (beside) parts.push("beside " + JSON.stringify(cut(beside, 40)));
      const fill = colour(css().backgroundColor);
      if (fill && fill !== "white" && !FIELD.has(el.tagName)) parts.push(fill);
      const words = typeof el.className === "string" ? el.className : "";
      const hint = squash([el.id && "#" + el.id, words && "." + squash(words).split(" ").join(".")].filter(Boolean).join(" "));
      if (hint) parts.push(cut(hint, 60));
    }
    if (kind === "canvas" || kind === "img" && !named && !used) {
      const icon = kind === "img" ? iconOf(el) : "";
      if (icon) parts.push((box.width > 64 ? "picture " : "icon ") + icon);
      parts.push(`${Math.round(box.width)}×${Math.round(box.height)}`);
    }
    const part = editor ? editors.part(editor) : "";
    if (part) parts.push(part);
    const placeholder = el.getAttribute("placeholder");
    if (placeholder && squash(placeholder) !== named) parts.push("placeholder " + JSON.stringify(cut(placeholder, 60)));
    if (el.tagName === "INPUT" && VALUE_INPUT.has(el.type)) parts.push(el.type === "range" ? `range ${el.min || 0} to ${el.max || 100}` : el.type);
    return parts.join(", ");
  }

  const TOOLTIPS = ["data-tooltip", "data-tip", "data-original-title", "data-bs-original-title", "data-title", "aria-roledescription"];
  const NO_ICON = /^(fa|fas|far|fab|fal|fad|bi|mdi|ti|ri|icon|icons|svg|svg-icon|i|glyphicon|octicon|lucide|feather|material-icons|\d+x?|xs|sm|md|lg|xl|fw)$/;

  // What the icon of an unnamed control shows, by what its author called it: a tooltip, a symbol of a sprite, a class or a
  // file. It is a guess, so it is told beside the control and never as its name.
  function iconOf(el) {
    const inside = [el, ...el.querySelectorAll("*")];
    for (const one of inside.slice(0, 12)) {
      for (const attribute of TOOLTIPS) {
        const tip = squash(one.getAttribute(attribute) || "");
        if (tip) return JSON.stringify(cut(tip, 40));
      }
      if (one.tagName === "use") {
        const symbol = (one.getAttribute("href") || one.getAttribute("xlink:href") || "").split("#")[1];
        if (symbol) return cut(words(symbol), 40);
      }
      if (one.tagName === "IMG") {
        const file = (one.getAttribute("src") || "").split(/[?#]/)[0].split("/").pop().replace(/\.\w+$/, "");
        if (file && !(one.getAttribute("src") || "").startsWith("data:")) return cut(words(file), 40);
      }
      const known = (one.getAttribute("class") || "").split(/\s+/).map(word => /^(?:fa|bi|mdi|ti|ri|icon|glyphicon|octicon|lucide|feather)-([a-z][\w-]*)$/.exec(word)?.[1])
        .find(word => word && !NO_ICON.test(word));
      if (known) return cut(words(known), 40);
      const material = inside.length < 8 && /^([A-Z]\w*)Icon$/.exec(one.getAttribute("data-testid") || "")?.[1];
      if (material) return cut(material.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase(), 40);
      const lucide = one.getAttribute("data-lucide") || one.getAttribute("data-icon") || one.getAttribute("data-feather");
      if (lucide) return cut(words(lucide), 40);
    }
    return "";
  }

  function words(text) {
    return squash(text.replace(/^(?:icon|ic|i)[-_]/, "").replace(/[-_]+/g, " "));
  }

  // The words right before or after an unnamed control, or nothing.
  function besideOf(el) {
    for (const side of ["previousSibling", "nextSibling"]) {
      for (let node = el[side]; node; node = node[side]) {
        const text = node.nodeType === 3 ? squash(node.data)
          : node.nodeType === 1 && !SKIP.has(node.tagName) && !node.matches("a[href],button,input,select,textarea") ? content(node) : "";
        if (text) return node.nodeType === 1 && node.querySelector("tr,li,[role=row],[role=listitem]") ? "" : text;
      }
    }
    return "";
  }

  function polygon(el) {
    const count = el.points?.numberOfItems ?? 0;
    return count === 3 ? "triangle" : count === 4 ? "quadrilateral" : "polygon";
  }

  // Whether a click on this would ask for a file, as far as where a hidden file field stands tells: inside it, or beside
  // it with nothing else to be used there. Returns the field, or true for Dropzone, which keeps its field elsewhere.
  function asksForFile(el) {
    if (el.classList.contains("dz-clickable")) return true;
    for (let box = el, up = 0; box && up < 4 && box !== document.body; box = parentOf(box), up++) {
      const fields = box.querySelectorAll("input[type=file]");
      if (!fields.length) continue;
      const [field, more] = fields;
      if (more || field.disabled || !hiddenField(field)) return false;
      const others = box.querySelectorAll("a[href],button,input:not([type=file]):not([type=hidden]),select,textarea,[role=button]");
      return Array.from(others).every(other => other === el || other.contains(el)) && field;
    }
    return false;
  }

  function hiddenField(field) {
    const { width, height } = field.getBoundingClientRect();
    return width < 3 || height < 3 || !shows.call(field, { ...VISIBLE, opacityProperty: true });
  }

  return Object.freeze({ CLICKABLE, CHECKABLE, TEXT_INPUT, VALUE_INPUT, listens, uses, states, value, detail, asksForFile });
})();
