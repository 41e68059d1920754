// The walker: reads what a person could see or use in a document, keeps refs, finds elements again.
// Lives in an isolated world of each document as `__backstep`; page scripts neither see nor disturb it.
(() => {
  if (globalThis.__backstep) return;

  const changes = globalThis.__backstepChanges;
  const faces = globalThis.__backstepFaces;
  const editors = globalThis.__backstepEditors;

  // Properties set here are seen in this world only: each world has its own wrapper of an element.
  const REF = Symbol("ref");
  const OWN = Symbol("own");           // the ref of an element's own words
  const LISTENS = Symbol("listens");   // event types an element listens to, told from outside
  const CLOSED = Symbol("closed");     // an element's closed shadow root, handed in from outside
  const LOOKED = Symbol("looked");     // an element whose shadow root the outside has been told of, or knows there is none
  const elements = new Map();          // ref -> WeakRef(element)
  let next = 1;

  const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "TITLE", "BASE",
    "defs", "clipPath", "mask", "linearGradient", "radialGradient", "style", "metadata", "BR", "WBR"]);
  const ROLES = {
    A: e => e.hasAttribute("href") ? "link" : "generic", AREA: e => e.hasAttribute("href") ? "link" : "generic", ARTICLE: "article", ASIDE: "complementary",
    BUTTON: "button", CAPTION: "caption", DATALIST: "listbox", DD: "definition", DETAILS: "group",
    DIALOG: "dialog", DT: "term", FIELDSET: "group", FIGURE: "figure", FORM: "form", H1: "heading",
    H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading", HR: "separator",
    IFRAME: "iframe", FRAME: "iframe", OBJECT: pluginRole, EMBED: pluginRole, IMG: e => e.getAttribute("alt") === "" ? "presentation" : "img",
    INPUT: inputRole, LI: "listitem", MAIN: "main", MENU: "list", METER: "meter", NAV: "navigation", OL: "list",
    OPTGROUP: "group", OPTION: "option", OUTPUT: "status", P: "paragraph", PROGRESS: "progressbar",
    SEARCH: "search", SELECT: e => e.multiple || e.size > 1 ? "listbox" : "combobox", SUMMARY: "button",
    TABLE: "table", TBODY: "rowgroup", TD: "cell", TEXTAREA: "textbox", TFOOT: "rowgroup",
    TH: e => e.scope === "row" ? "rowheader" : "columnheader", THEAD: "rowgroup", TR: "row", UL: "list",
    CANVAS: "canvas", VIDEO: "video", AUDIO: "audio", svg: "img", BLOCKQUOTE: "blockquote", CODE: "code",
  };
  // Boxes that only group: shown where they have a name or a role of their own making.
  const STRUCTURE = new Set(["article", "complementary", "group", "form", "list", "main", "navigation", "rowgroup",
    "row", "table", "search", "figure", "region", "banner", "contentinfo", "blockquote", "dialog", "tablist",
    "menu", "menubar", "toolbar", "tree", "grid", "listbox", "radiogroup", "tabpanel", "alertdialog"]);
  const ALWAYS = new Set(["dialog", "alertdialog", "table", "row", "list", "navigation", "form", "menu", "listbox",
    "tree", "grid", "tablist", "main", "search", "radiogroup"]);
  // Named by their own words, which are all that is told of what they hold.
  const WORDS = new Set(["cell", "gridcell", "columnheader", "rowheader", "caption", "code", "term", "definition", "listitem",
    "paragraph", "status", "alert"]);
  // The roles of ARIA 1.3 and of its graphics module; others in a role attribute are passed over.
  const KNOWN = new Set(("alert alertdialog application article banner blockquote button caption cell checkbox code "
    + "columnheader combobox comment complementary contentinfo definition deletion dialog directory document emphasis feed "
    + "figure form generic grid gridcell group heading image img insertion link list listbox listitem log main mark marquee "
    + "math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation note option paragraph progressbar radio "
    + "radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong "
    + "subscript suggestion superscript switch tab table tablist tabpanel term text textbox time timer toolbar tooltip tree "
    + "treegrid treeitem graphics-document graphics-object graphics-symbol").split(" "));
  const FROM_CONTENT = new Set(["button", "link", "heading", "option", "tab", "menuitem", "menuitemcheckbox",
    "menuitemradio", "checkbox", "radio", "switch", "treeitem", "cell", "gridcell", "columnheader", "rowheader",
    "tooltip", "caption", "code", "term", "definition", "listitem", "paragraph", "status", "alert"]);
  const CLICKABLE = new Set(["button", "link", "combobox", "option", "tab", "menuitem", "menuitemcheckbox", "menuitemradio",
    "checkbox", "radio", "switch", "treeitem", "gridcell"]);
  const SHAPES = new Set(["circle", "rect", "ellipse", "polygon", "polyline", "path", "line", "image", "use"]);
  const TEXT_INPUT = new Set(["", "text", "search", "email", "url", "tel", "password", "number", "date", "time",
    "datetime-local", "month", "week", "color", "range"]);
  const VALUE_INPUT = new Set(["date", "time", "datetime-local", "month", "week", "color", "range"]);
  const FIELD = new Set(["INPUT", "TEXTAREA", "SELECT", "BUTTON"]);
  const CLICK_EVENTS = ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "dblclick"];
  const DRAG_EVENTS = ["mousedown", "pointerdown", "dragstart", "touchstart"];

  function inputRole(e) {
    switch (e.type) {
      case "button": case "submit": case "reset": case "image": case "file": case "color": return "button";
      case "checkbox": return "checkbox";
      case "radio": return "radio";
      case "range": return "slider";
      case "number": return "spinbutton";
      case "search": return e.list ? "combobox" : "searchbox";
      case "hidden": return "none";
      default: return e.list ? "combobox" : "textbox";
    }
  }

  // A document inside, read like a frame, or a picture.
  function pluginRole(e) {
    if (holdsDocument(e)) return "iframe";
    return /^image\//.test(e.type) ? "img" : "generic";
  }

  function holdsDocument(el) {
    if (el.contentDocument) return true;
    for (let i = 0; i < Math.min(window.length, 50); i++) {
      try { if (window[i].frameElement === el) return true; } catch { /* a foreign document */ }
    }
    return false;
  }

  // A form's field named "parentNode" takes the place of the form's own: the prototypes' getters cannot be fooled.
  const getter = (type, name) => { const get = Object.getOwnPropertyDescriptor(type.prototype, name).get; return el => get.call(el); };
  const parentNodeOf = getter(Node, "parentNode");
  const parentOf = getter(Node, "parentElement");
  const firstOf = getter(Node, "firstChild");
  const nextOf = getter(Node, "nextSibling");
  const shows = Element.prototype.checkVisibility;
  const tagNameOf = getter(Element, "tagName");
  const rootOf = el => el.shadowRoot || el[CLOSED] || null;
  // Most texts have nothing to squash: a test is cheaper than a replacement.
  const squash = text => /[\s\u00a0]{2}|[^\S ]|\u00a0|^ | $/.test(text) ? text.replace(/[\s\u00a0]+/g, " ").trim() : text;
  const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

  function refOf(el) {
    let ref = el[REF];
    if (ref === undefined) {
      ref = el[REF] = next++;
      elements.set(ref, new WeakRef(el));
    }
    return ref;
  }

  // The words that a box holds itself have a ref of their own beside that of the box; both name the same element.
  function wordsRef(el) {
    let ref = el[OWN];
    if (ref === undefined) {
      ref = el[OWN] = next++;
      elements.set(ref, new WeakRef(el));
    }
    return ref;
  }

  function byRef(ref) {
    const el = elements.get(ref)?.deref();
    return el && el.isConnected ? el : null;
  }

  function role(el) {
    const given = el.getAttribute("role");
    if (given) {
      for (const word of given.toLowerCase().split(/\s+/)) {
        if (KNOWN.has(word)) return word;
        // What can have the focus is not made nothing by saying so.
        if (word === "none" || word === "presentation") { if (el.tabIndex >= 0) break; return "generic"; }
      }
    }
    const implied = ROLES[el.tagName];
    if (typeof implied === "function") return implied(el);
    if (implied) return implied;
    if (el.tagName === "SECTION") return el.hasAttribute("aria-label") || el.hasAttribute("aria-labelledby") ? "region" : "generic";
    if (el.namespaceURI === "http://www.w3.org/2000/svg" && SHAPES.has(el.tagName)) return "graphics-symbol";
    return el.isContentEditable && el.parentElement && !el.parentElement.isContentEditable ? "textbox" : "generic";
  }

  // Accessible name after the W3C computation (accname 1.2): labelledby, label, native, content, title, placeholder.
  function name(el, kind) {
    if (!el.hasAttributes() && !FIELD.has(el.tagName)) {
      return nativeName(el) || (FROM_CONTENT.has(kind) ? content(el, null, WORDS.has(kind)) : "");
    }
    const by = el.getAttribute("aria-labelledby");
    if (by) {
      const text = squash(by.split(/\s+/).map(id => {
        const other = el.getRootNode().getElementById?.(id);
        return other ? (other.getAttribute("aria-label") || content(other, el)) : "";
      }).join(" "));
      if (text) return text;
    }
    const label = squash(el.getAttribute("aria-label") || "");
    if (label) return label;
    const native = nativeName(el);
    if (native) return native;
    if (FROM_CONTENT.has(kind) && el.tagName !== "INPUT" && el.tagName !== "TEXTAREA" && el.tagName !== "SELECT") {
      const text = content(el, null, WORDS.has(kind));
      if (text) return text;
    }
    const title = squash(el.getAttribute("title") || "");
    if (title) return title;
    return squash(el.getAttribute("placeholder") || el.getAttribute("aria-placeholder") || "");
  }

  function nativeName(el) {
    switch (el.tagName) {
      case "INPUT":
        if (el.type === "submit" || el.type === "button" || el.type === "reset") {
          return squash(el.value || "") || labels(el) || { submit: "Submit", reset: "Reset" }[el.type] || "";
        }
        if (el.type === "image") return squash(el.alt || el.value || "") || labels(el) || "Submit";
        return labels(el);
      case "TEXTAREA": {
        const editor = editors.editorOf(el), before = editor && editors.replaced(editor);
        return labels(before || el);
      }
      case "SELECT": case "METER": case "PROGRESS": case "OUTPUT": case "BUTTON": return labels(el);
      case "IMG": case "AREA": return squash(el.alt || "");
      case "CANVAS": return content(el);
      case "FIELDSET": return childText(el, "LEGEND");
      case "FIGURE": return childText(el, "FIGCAPTION");
      case "TABLE": return childText(el, "CAPTION");
      case "svg": return childText(el, "title") || squash(el.getAttribute("aria-label") || "");
      default:
        if (SHAPES.has(el.tagName)) return childText(el, "title");
        return "";
    }
  }

  function childText(el, tag) {
    for (const child of el.children) if (child.tagName === tag) return content(child);
    return "";
  }

  // During a walk: control -> its labels, by root. `el.labels` searches the whole tree at each call.
  let labelled = null;

  function labelsOf(el) {
    if (!labelled) return Array.from(el.labels || []);
    const root = el.getRootNode();
    let known = labelled.get(root);
    if (!known) {
      known = new Map();
      for (const one of root.querySelectorAll("label")) {
        if (one.control) known.set(one.control, [...(known.get(one.control) || []), one]);
      }
      labelled.set(root, known);
    }
    return known.get(el) || [];
  }

  function labels(el) {
    const found = labelsOf(el);
    return found.length ? squash(found.map(one => content(one, el)).join(" ")) : "";
  }

  // The words inside, but for those of what `asked` for them. With `whole`, a label on a box does not stand for its words.
  function content(el, asked, whole = false) {
    const only = el.firstChild;
    if (only && only === el.lastChild && only.nodeType === 3 && !el.shadowRoot) return squash(only.data);
    let out = "";
    const visit = node => {
      if (out.length > 2000) return;
      if (node.nodeType === 3) { out += node.data; return; }
      if (node.nodeType !== 1 || SKIP.has(node.tagName)) { if (node.tagName === "BR") out += " "; return; }
      if (node !== el) {
        if (node === asked) return;
        if (node.getAttribute("aria-hidden") === "true") return;
        const style = getComputedStyle(node);
        if (style.display === "none" || style.visibility === "hidden") return;
        // A field inside a label or button stands for its value there, whatever its own name is.
        if (node.tagName === "INPUT" || node.tagName === "TEXTAREA") {
          if (node.type !== "checkbox" && node.type !== "radio" && node.type !== "password") out += " " + node.value + " ";
          return;
        }
        if (node.tagName === "SELECT") {
          out += " " + Array.from(node.selectedOptions, o => o.label).join(" ") + " ";
          return;
        }
        const own = node.getAttribute("aria-label");
        if (own) {
          const inside = whole && role(node) === "generic" ? content(node, asked, true) : "";
          out += " " + own + " " + (own.includes(inside) ? "" : inside + " ");
          return;
        }
        if (node.tagName === "IMG") { out += " " + (node.alt || "") + " "; return; }
        if (node.tagName === "svg") { out += " " + childText(node, "title") + " "; return; }
        const block = style.display !== "inline" && style.display !== "contents";
        if (block) out += " ";
        for (const child of children(node)) visit(child);
        if (block) out += " ";
        return;
      }
      for (const child of children(node)) visit(child);
    };
    visit(el);
    return squash(out);
  }

  // The nodes inside as they are shown: of a shadow root, or given to a slot. An array: going through a live list
  // takes five times as long.
  function children(node) {
    const root = rootOf(node);
    if (!root && node.tagName === "SLOT") {
      const given = node.assignedNodes();
      if (given.length) return given;
    }
    const found = [];
    for (let child = firstOf(root || node); child; child = nextOf(child)) found.push(child);
    return found;
  }

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
    if (kind === "textbox" || kind === "searchbox") return el.isContentEditable || editors.editorOf(el) ? ["click", "type"] : ["click"];
    if (kind === "slider" && el.hasAttribute("aria-valuenow")) found.push("type");
    if (!pointer && !CLICKABLE.has(kind) && !el[LISTENS] && !el.hasAttributes() && tag !== "SUMMARY") return found;
    const clickable = CLICKABLE.has(kind) || tag === "SUMMARY" || tag === "VIDEO" || tag === "AUDIO"
      || el.hasAttribute("onclick") || el.hasAttribute("onmousedown") || el.hasAttribute("data-onclick")
      || (el.tabIndex >= 0 && el.hasAttribute("tabindex")) || listens(el, CLICK_EVENTS) || pointer;
    if (clickable) found.unshift("click");
    if (el.isContentEditable && el.getAttribute("contenteditable") !== null) found.push("type");
    const words = typeof el.className === "string" ? el.className : el.getAttribute("class") || "";
    if (el.getAttribute("draggable") === "true" || /\b(ui-draggable|ui-sortable-handle|ui-slider-handle|draggable)\b/.test(words)
        || (listens(el, DRAG_EVENTS) && !listens(el, ["click"]) && !CLICKABLE.has(kind))) found.push("drag");
    return found;
  }

  const OPENS = new Set(["DETAILS", "SUMMARY", "DIALOG"]);

  function states(el, kind, active) {
    const found = [];
    if (el === active && el !== document.body) found.push("focused");
    const field = FIELD.has(el.tagName);
    if (kind === "heading") found.push("level " + (el.getAttribute("aria-level") || /^H([1-6])$/.exec(el.tagName)?.[1] || 2));
    if (!field && !OPENS.has(el.tagName) && !el.hasAttributes()) return found;
    // Most have no such attribute: one look at their names is cheaper than one for each.
    const aria = el.getAttributeNames().some(word => word.startsWith("aria-")) ? word => el.getAttribute("aria-" + word) : () => null;
    const [disabled, unfit] = field && el.matches(":disabled,:user-invalid") ? [el.matches(":disabled"), el.matches(":user-invalid")] : [];
    if ("checked" in el && (el.type === "checkbox" || el.type === "radio")) {
      if (el.indeterminate) found.push("mixed"); else if (el.checked) found.push("checked");
    } else if (aria("checked") === "true") found.push("checked");
    else if (aria("checked") === "mixed") found.push("mixed");
    if (aria("disabled") === "true" || disabled) found.push("disabled");
    if (aria("expanded") === "true" || (el.tagName === "DETAILS" && el.open) || (el.tagName === "DIALOG" && el.open)) found.push("expanded");
    else if (aria("expanded") === "false" || (el.tagName === "DETAILS" && !el.open)) found.push("collapsed");
    if (el.tagName === "SUMMARY" && !aria("expanded") && el.parentElement?.tagName === "DETAILS") found.push(el.parentElement.open ? "expanded" : "collapsed");
    if (aria("selected") === "true") found.push("selected");
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
    if (el.tagName === "INPUT") {
      if (el.type === "password") return "•".repeat(el.value.length);
      if (el.type === "file") return Array.from(el.files || [], f => f.name).join(", ");
      if (kind === "combobox" && el.value === "") return faces.chosen(el, content);
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
      const beside = icon || editor ? "" : besideOf(el);
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
        if (text) return text;
      }
    }
    return "";
  }

  function polygon(el) {
    const count = el.points?.numberOfItems ?? 0;
    return count === 3 ? "triangle" : count === 4 ? "quadrilateral" : "polygon";
  }

  // Whether everything inside is plain running text, so that one line can hold it.
  function plain(el, depth) {
    if (!el.firstElementChild && !el.shadowRoot) return true;
    for (const child of children(el)) {
      if (child.nodeType !== 1 || SKIP.has(child.tagName)) continue;
      if (depth > 6 || FIELD.has(child.tagName) || child.tagName in ROLES && child.tagName !== "CODE"
          || rootOf(child) || child.hasAttribute("role") || child.hasAttribute("tabindex")
          || child.hasAttribute("onclick") || child[LISTENS] || child.namespaceURI !== el.namespaceURI) return false;
      const style = getComputedStyle(child);
      if (style.display !== "inline" && style.display !== "none" || style.cursor === "pointer") return false;
      if (!plain(child, depth + 1)) return false;
    }
    return true;
  }

  // The rectangle round an element's own words and children, or null.
  function around(el) {
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    for (const child of children(el)) {
      let rect;
      if (child.nodeType === 3) {
        if (!/\S/.test(child.data)) continue;
        const range = document.createRange();
        range.selectNodeContents(child);
        rect = range.getBoundingClientRect();
      } else if (child.nodeType === 1) rect = child.getBoundingClientRect();
      else continue;
      if (!(rect.width > 0 && rect.height > 0)) continue;
      left = Math.min(left, rect.left); top = Math.min(top, rect.top);
      right = Math.max(right, rect.right); bottom = Math.max(bottom, rect.bottom);
    }
    return left < right ? new DOMRect(left, top, right - left, bottom - top) : null;
  }

  function decorative(el, tag) {
    if (tag === "IMG") return el.getAttribute("aria-hidden") === "true" && !el[LISTENS] && !el.hasAttribute("onclick");
    if (tag !== "svg" || !el.closest("[aria-hidden=true]")) return false;
    return !el[LISTENS] && ![el, ...el.querySelectorAll("*")].some(one => one[LISTENS] || one.hasAttribute("onclick") || one.tagName === "a" || one.tagName === "text");
  }

  function ownText(nodes) {
    let out = "";
    for (const child of nodes) if (child.nodeType === 3) out += " " + child.data;
    return out === "" ? "" : squash(out);
  }

  const VISIBLE = { visibilityProperty: true, checkVisibilityCSS: true };
  const WHOLE = new Set(["SELECT", "DATALIST", "TEXTAREA"]);

  function sides(rect) {
    const { x, y, width, height } = rect;
    return { left: x, top: y, right: x + width, bottom: y + height, x, y, width, height };
  }

  const lowered = new Map();

  function lower(tag) {
    let small = lowered.get(tag);
    if (small === undefined) lowered.set(tag, small = tag.toLowerCase());
    return small;
  }

  // A label of a box or radio button that is read is told as the name of that.
  function toldByControl(label) {
    const control = label.control;
    if (!control || !faces.checks(control)) return false;
    if (shows.call(control, VISIBLE) && control.getBoundingClientRect().width > 0) return true;
    const holder = parentOf(control) || control.getRootNode().host;
    return !!holder && shows.call(holder, VISIBLE) && !!faces.faceOf(control, labelsOf) && !faces.carrier(control);
  }

  // Whether a box without a box of its own lies in a part of the page that is not drawn.
  function undrawn(el) {
    for (let node = parentOf(el); node; node = parentOf(node)) {
      if (node.tagName === "DETAILS" && !node.open) return true;
      const style = getComputedStyle(node);
      if (style.contentVisibility === "hidden") return true;
      if (style.display !== "contents") return !shows.call(node, VISIBLE) && style.visibility === "visible";
    }
    return false;
  }

  // The last reading as it was handed over: its number, each row by its ref, their order, the HTML.
  let handed = { number: 0, rows: new Map(), order: "", html: "" };

  // Reads the document. Where `options.known` names the last reading, only what differs from it is handed over: the
  // elements whose rows changed, the order where that changed, and the HTML between what begins and ends alike.
  function walk(options) {
    if (options.next > next) next = options.next;
    const limit = options.limit;
    const hidden = options.hidden.length ? options.hidden.join(",") : null;
    const out = [], frames = [];
    const body = document.body, page = document.documentElement;
    let omitted = 0;
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
    const reading = changes.begin();
    const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const filesAsked = document.querySelector("input[type=file]") !== null;

    const put = (el, record) => {
      if (out.length >= limit) { omitted++; return null; }
      out.push(record);
      return record;
    };

    // What is passed over in a root: parts that nobody can use, and what the fields of editors tell already.
    const aside = new Set(), written = new Map(), drawers = new Set();
    const meet = root => {
      for (const el of root.querySelectorAll("[inert]," + editors.ALL)) {
        if (el.inert) { aside.add(el); continue; }
        const editor = editors.made(el);
        if (!editor) continue;
        written.set(editor.field, editor);
        if (editor.field !== el) drawers.add(el);
        for (const one of el.querySelectorAll(editor.kind.aside)) if (!one.contains(editor.field)) aside.add(one);
      }
    };
    meet(document);

    // Asking for style is most of the work: it is asked for only where it tells something.
    const visit = (el, depth, parent, clip, inPointer, delegated, covered) => {
      const tag = tagNameOf(el);
      if (SKIP.has(tag)) return;
      if (hidden && el.matches(hidden)) return;
      if (aside.size && aside.has(el)) return;
      const editor = written.size ? written.get(el) : undefined;
      const face = tag === "INPUT" ? faces.faceOf(el, labelsOf) : editor?.root;
      if (tag === "INPUT" && faces.carrier(el)) return;
      const area = tag === "AREA" ? faces.areaOf(el) : null;
      // A picture that assistive technology is not told of says nothing that the words beside it do not.
      if (decorative(el, tag)) return;
      let style = null;
      const css = () => style || (style = getComputedStyle(el));
      let shown = shows.call(el, VISIBLE), boxed = true;
      if (face) shown = true;
      else if (area) shown = !!area.image;
      else if (!shown) {
        if (css().display === "none") return;
        boxed = style.display !== "contents";
        // Its box is there, but in a part of the page that is not drawn: closed details, or what a search may find.
        if (boxed ? style.visibility === "visible" : undrawn(el)) return;
        shown = style.visibility === "visible";
      }
      const root = rootOf(el);
      if (root) { reading.root(root); meet(root); }
      const nodes = children(el);
      const whole = WHOLE.has(tag);                // what is inside is told by the element itself
      const parents = !whole && nodes.some(node => node.nodeType === 1);
      const outer = el === body || el === page;
      let box = boxed ? sides(area ? area.box : (face || el).getBoundingClientRect()) : null;
      let sized = boxed && box.width > 0 && box.height > 0;
      if (!sized && (!boxed || css().overflow === "visible")) {
        if (boxed && css().contentVisibility === "hidden") return;
        const held = around(face || el);  // Its own box is nothing, but what it holds is to be seen.
        if (held) { box = sides(held); sized = true; }
      }
      let inner = clip;
      if (parents && css().overflow !== "visible") {
        reading.scroller(el);
        if (box && !outer && style.display !== "inline") {
          inner = { left: Math.max(clip.left, box.left), top: Math.max(clip.top, box.top),
            right: Math.min(clip.right, box.right), bottom: Math.min(clip.bottom, box.bottom) };
        }
      }
      if (face || area) clip = room(face || area.image);
      if (tag === "INPUT" || tag === "TEXTAREA" || tag === "SELECT") reading.field(el);
      if (shown && sized) reading.drawn(el, tag);
      const kind = role(el);
      const isFrame = kind === "iframe";
      const checking = tag === "LABEL" && toldByControl(el);
      let used = [], own = "";
      if (shown && sized) {
        const told = whole || tag === "INPUT" || CLICKABLE.has(kind);  // whatever the pointer looks like
        if (!outer) used = uses(el, kind, !told && !inPointer && !checking && css().cursor === "pointer");
        own = editor || tag === "DETAILS" && !el.open ? "" : ownText(nodes);
        if (!used.length && delegated && own && !checking) used = ["click"];
        if (checking && faces.faceOf(el.control, labelsOf)) used = [];
      }
      if (tag === "LABEL" && el.control && !used.includes("click") && !checking) {
        const target = el.control.getBoundingClientRect();
        if (el.control.tagName === "TEXTAREA" && el.control.nextElementSibling?.matches(editors.ALL)) used = [];
        else if (!(target.width > 0 && target.height > 0)) used = el.control.type === "file" ? ["upload"] : ["click"];
      }
      if (filesAsked && used.includes("click") && tag !== "INPUT" && asksForFile(el)) used = [...used, "upload"];
      let record = null, below = depth, heir = parent;
      let loose = "";                              // words of its own beside its name
      let swallow = covered;                       // text inside is already told by an ancestor's name
      if (shown && sized && kind !== "none") {
        let label = "", as = kind, running = false;
        const isText = kind === "generic" || kind === "presentation";
        const svgText = el.tagName === "text" || el.tagName === "tspan";
        if (used.length || !isText) {
          label = name(el, kind);
          if (!label && (used.length && isText || svgText)) label = cut(content(el), 400);
          if (used.length && isText && el.querySelector && label) {
            // A clickable box round other usable things is told by its own words only.
            if (el.querySelector("a[href],button,input,select,textarea,[onclick],[tabindex],[role=button]")) label = own;
          }
        } else if (own && !covered) {
          as = "text";
          running = plain(el, 0);
          label = running ? content(el, null, true) || own : own;
        } else if (!own && (!nodes.length || whole) && (el.title || el.hasAttribute("aria-label"))) {
          as = "img";                              // an icon drawn by its style
          label = name(el, kind);
        }
        const called = !isText && !used.length && (el.hasAttribute("aria-label") || el.hasAttribute("aria-labelledby"));
        if (own && !covered && !used.length && (STRUCTURE.has(kind) || called && WORDS.has(kind)) && !label.includes(own)) {
          running = plain(el, 0);
          loose = running ? content(el, null, true) : own;
        }
        const wholly = FROM_CONTENT.has(kind) || (isText && (used.length > 0 || as === "text"));
        const labelled = el.tagName === "LABEL" && el.control && !used.length;
        let show = used.length > 0 || isFrame;
        if (!show && (as === "text" || as === "img" && isText)) show = !!label && !labelled && !(covered && as === "img");
        else if (!show && STRUCTURE.has(kind)) show = !!label || ALWAYS.has(kind);
        else if (!show && kind === "presentation") show = false;
        else if (!show && !isText) show = !!label && !covered || kind === "separator" || kind === "canvas"
          || kind === "graphics-symbol" && !covered || kind === "progressbar" || kind === "img" && !covered;
        if (el.tagName === "OPTION" || el.tagName === "OPTGROUP") show = false;
        if (kind === "separator" || drawers.size && drawers.has(el)) show = false;
        if (show) {
          if (!STRUCTURE.has(kind)) label = cut(label, 1000);
          record = { ref: refOf(el), role: as, box: { x: r1(box.left), y: r1(box.top), width: r1(box.width), height: r1(box.height) } };
          if (label) record.name = label;
          const held = value(el, kind, editor); if (held) record.value = cut(held, 2000);
          const st = states(el, kind, active); if (st.length) record.states = st;
          const more = detail(el, kind, css, label, used.length > 0, box, editor); if (more) record.detail = more;
          if (used.length) record.uses = used;
          if (depth) record.depth = depth;
          if (parent) record.parent = parent;
          record.tag = lower(tag);
          if (held && (kind === "combobox" || used.includes("type"))) swallow = true;
          if (el.tagName === "SELECT") {
            record.options = Array.from(el.options).slice(0, 500).map(o => ({
              label: squash(o.label || o.text), value: o.value, selected: o.selected, disabled: o.disabled }));
          }
          const seen = Math.min(box.right, clip.right) - Math.max(box.left, clip.left) > 0.5
            && Math.min(box.bottom, clip.bottom) - Math.max(box.top, clip.top) > 0.5;
          if (!seen) record.in_viewport = false;
          record = put(el, record);
          below = depth + 1; heir = record ? record.ref : parent;
          if (isFrame) frames.push({ ref: refOf(el), x: r1(box.left + el.clientLeft + parseFloat(css().paddingLeft)),
            y: r1(box.top + el.clientTop + parseFloat(style.paddingTop)), visible: seen });
        }
        if (show && label && wholly && !(called && WORDS.has(kind)) || labelled) swallow = true;
        if (show && as === "text" && !running) swallow = covered;
        if (loose) {
          const words = { ref: wordsRef(el), role: "text", name: cut(loose, 1000),
            box: { x: r1(box.left), y: r1(box.top), width: r1(box.width), height: r1(box.height) }, tag: lower(tag) };
          if (below) words.depth = below;
          if (heir) words.parent = heir;
          if (record?.in_viewport === false) words.in_viewport = false;
          put(el, words);
          if (running) swallow = true;
        }
        if (!show && el.tagName === "SELECT") return;
      }
      if (isFrame && tag !== "OBJECT" && tag !== "EMBED" || !parents) return;
      const handing = delegated || (!outer && /^(UL|OL|TABLE|TBODY|TR|NAV|MENU)$/.test(tag) && listens(el, ["click", "mousedown"]));
      const pointer = checking || css().cursor === "pointer";
      for (const node of nodes) {
        if (node.nodeType === 1) visit(node, below, heir, inner, pointer, handing, swallow);
      }
    };

    labelled = new Map();
    try {
      if (body) visit(body, 0, 0, view, false, false, false);
    } finally {
      labelled = null;
    }
    const scroller = document.scrollingElement || document.documentElement;
    const before = options.known === handed.number ? handed : { rows: new Map(), order: "", html: "" };
    const rows = new Map(), changed = [];
    for (const record of out) {
      const row = JSON.stringify(record);
      rows.set(record.ref, row);
      if (before.rows.get(record.ref) !== row) changed.push(row);
    }
    const order = Array.from(rows.keys()).join(",");
    const text = html(hidden);
    const [begins, ends] = alike(before.html, text);
    handed = { number: reading.end(), rows, order, html: text };
    const head = JSON.stringify({
      url: location.href, title: title(), frames, omitted, next, reading: handed.number,
      viewport: [innerWidth, innerHeight], scroll: [Math.round(scrollX), Math.round(scrollY)],
      page_size: [scroller ? scroller.scrollWidth : 0, scroller ? scroller.scrollHeight : 0],
      document: String(Math.round(performance.timeOrigin * 10)),
      html: text.slice(begins, text.length - ends), html_kept: [begins, ends],
    });
    const ordered = order === before.order ? "" : `,"order":[${order}]`;
    return `${head.slice(0, -1)},"elements":[${changed.join(",")}]${ordered}}`;
  }

  // How many characters two texts have in common at their beginning, and of the rest at their end.
  function alike(before, after) {
    const most = Math.min(before.length, after.length);
    const common = (limit, same) => {
      let low = 0, high = limit;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (same(low, middle)) low = middle; else high = middle - 1;
      }
      return low;
    };
    let begins = common(most, (from, to) => before.slice(from, to) === after.slice(from, to));
    const cutEnd = (text, from, to) => text.slice(text.length - to, text.length - from);
    if (/[\ud800-\udbff]/.test(after.charAt(begins - 1))) begins--;  // Neither end may tear a pair of surrogates.
    let ends = common(most - begins, (from, to) => cutEnd(before, from, to) === cutEnd(after, from, to));
    if (/[\udc00-\udfff]/.test(after.charAt(after.length - ends))) ends--;
    return [begins, Math.max(ends, 0)];
  }

  // A form or picture named "title" takes the place of the document's.
  function title() {
    const whole = typeof document.title === "string" ? document.title : squash(document.querySelector("title")?.textContent ?? "");
    const more = whole.length - 2000;
    return more > 0 ? `${whole.slice(0, 2000)} (… ${more} further characters left out)` : whole;
  }

  const r1 = number => Math.round(number * 10) / 10;

  // With `marked`, each element of the last reading carries its ref as data-ref.
  function html(hidden, marked = false) {
    const root = document.documentElement;
    if (!root) return "";
    const away = "script" + (hidden ? "," + hidden : "");
    if (!marked && !document.querySelector(away)) return root.outerHTML;
    // In a document without a window a copy loads nothing and wakes no custom element of the page.
    const copy = document.implementation.createHTMLDocument("").importNode(root, true);
    if (marked) {
      const own = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
      const copied = copy.ownerDocument.createTreeWalker(copy, NodeFilter.SHOW_ELEMENT);
      do {
        const ref = own.currentNode[REF];
        if (handed.rows.has(ref)) copied.currentNode.setAttribute("data-ref", ref);
      } while (own.nextNode() && copied.nextNode());
    }
    for (const el of copy.querySelectorAll(away)) el.remove();
    // There scripts are off, and what is in a noscript would be written as words: it is put in afterwards.
    const quoted = Array.from(copy.querySelectorAll("noscript"), el => el.textContent);
    if (!quoted.length) return copy.outerHTML;
    const mark = `backstep ${Math.random()} `;
    copy.querySelectorAll("noscript").forEach((el, index) => { el.textContent = mark + index + ";"; });
    return copy.outerHTML.replace(new RegExp(`${mark}(\\d+);`, "g"), (_, index) => quoted[index]);
  }

  function label(el) {
    const kind = role(el);
    const said = name(el, kind) || cut(content(el), 80);
    return said ? `${kind} "${cut(said, 80)}"` : kind;
  }

  function xpath(el) {
    const parts = [];
    for (let node = el; node && node.nodeType === 1; node = parentOf(node)) {
      let index = 1;
      for (let other = node.previousElementSibling; other; other = other.previousElementSibling) if (other.tagName === node.tagName) index++;
      const svg = node.namespaceURI === "http://www.w3.org/2000/svg";
      parts.unshift(svg ? `*[name()='${node.tagName}'][${index}]` : `${node.tagName.toLowerCase()}[${index}]`);
    }
    return "/" + parts.join("/");
  }

  function hit(x, y) {
    let el = document.elementFromPoint(x, y);
    while (el && rootOf(el)) {
      const inside = rootOf(el).elementFromPoint(x, y);
      if (!inside || inside === el) break;
      el = inside;
    }
    return el;
  }

  function within(found, el) {
    for (let node = found; node; node = parentNodeOf(node) || node.host) if (node === el) return true;
    return false;
  }

  // Brings the element into view and finds a point of it that a click would reach; `at` is a place of it, by fractions.
  function locate(ref, at) {
    const el = byRef(ref);
    if (!el) return { problem: elements.has(ref) ? "is no longer in the page" : "is not in this page" };
    const said = reach(el, at);
    if (!("problem" in said)) aim(el, said, at);
    return said;
  }

  // What is clicked in place of a control that has no box for it, or the control itself.
  const faceOf = el => el.tagName === "AREA" ? faces.areaOf(el)?.image || el
    : editors.editorOf(el)?.root || faces.faceOf(el, labelsOf) || el;
  const bare = el => getComputedStyle(el).visibility !== "visible" || !el.getClientRects().length && !around(el)
    || !shows.call(el, VISIBLE) && getComputedStyle(el).display !== "contents";
  const unseen = el => bare(faceOf(el));
  const off = el => el.matches(":disabled") || el.getAttribute("aria-disabled") === "true";
  const boxOf = el => { const box = el.tagName === "AREA" && faces.areaOf(el)?.box || faceOf(el).getBoundingClientRect(); return { x: r1(box.left), y: r1(box.top), width: r1(box.width), height: r1(box.height) }; };

  function describe(el) {
    return { ref: refOf(el), label: label(el), xpath: xpath(el), tag: el.tagName.toLowerCase(), type: typeof el.type === "string" ? el.type : "" };
  }

  // Whether a click on what was hit is a click on the element.
  function reaches(found, el) {
    if (within(found, el) || el.tagName === "LABEL" && el.control === found) return true;
    if (found.tagName === "AREA" && el.tagName === "IMG" && el.useMap === "#" + parentOf(found)?.name) return true;
    for (let node = found; node && node.nodeType === 1; node = parentNodeOf(node) || node.host) {
      if (node.tagName === "LABEL") { if (node.control === el) return true; break; }
      if (node.matches("a[href],button,input,select,textarea")) return false;  // What is in a label may be used itself.
    }
    const editor = editors.editorOf(el);
    return editor ? within(found, editor.root) : faces.belongs(found, el);
  }

  // Scrolls the element to the middle of the window unless it is in view already; tells whether it moved.
  function bring(target, inView) {
    const el = faceOf(target);
    const before = el.getBoundingClientRect();
    if (inView(before)) return false;
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const after = el.getBoundingClientRect();
    return before.left !== after.left || before.top !== after.top;
  }

  function reach(el, at) {
    if (at) return placeIn(el, at, false);
    const said = describe(el);
    if (unseen(el)) return { ...said, problem: "is not visible" };
    if (off(el)) return { ...said, problem: "is disabled" };
    said.scrolled = bring(el, box => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth
      && points(el).some(p => { const found = hit(...p); return found && (within(found, el) || faceOf(el) !== el && reaches(found, el)); }));
    said.box = boxOf(el);
    let over = null;
    for (const [x, y] of points(el)) {
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const found = hit(x, y);
      if (found && reaches(found, el)) return { ...said, x, y };
      over = over || found;
    }
    if (over && over.nodeType === 1 && within(el, over) && el.namespaceURI === "http://www.w3.org/2000/svg") {
      const [x, y] = points(el)[0];
      return { ...said, x, y };
    }
    if (over) return { ...said, problem: `is covered by ${label(over)}` };
    return { ...said, problem: "has no point inside the window that could be clicked" };
  }

  // A place to drop on: in view and with a box, but covered or not; what is dragged may lie over it.
  function place(ref, at) {
    const el = byRef(ref);
    if (!el) return { problem: elements.has(ref) ? "is no longer in the page" : "is not in this page" };
    if (at) return placeIn(el, at, true);
    const said = describe(el);
    if (unseen(el)) return { ...said, problem: "is not visible" };
    const inside = ([x, y]) => { const shown = room(el); return x >= shown.left && y >= shown.top && x < shown.right && y < shown.bottom; };
    said.scrolled = bring(el, () => points(el).some(inside));
    said.box = boxOf(el);
    const free = points(el).filter(inside);
    const best = free.find(([x, y]) => { const found = hit(x, y); return found && reaches(found, el); }) || free[0];
    return best ? { ...said, x: best[0], y: best[1] } : { ...said, problem: "has no place inside the window to drop on" };
  }

  // The part of the window that is left for an element by the boxes round it that cut off what is too large.
  function room(el) {
    const left = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    for (let node = parentOf(el) || el.getRootNode().host; node; node = parentOf(node) || node.getRootNode().host) {
      if (node === document.body || node === document.documentElement) break;
      const style = getComputedStyle(node);
      if (style.overflow === "visible" || style.display === "inline" || style.display === "contents") continue;
      const box = node.getBoundingClientRect();
      left.left = Math.max(left.left, box.left); left.top = Math.max(left.top, box.top);
      left.right = Math.min(left.right, box.right); left.bottom = Math.min(left.bottom, box.bottom);
    }
    return left;
  }

  // A place of an element by fractions of its box: brought into view, and free unless it may be covered.
  function placeIn(el, [across, down], covered) {
    const said = describe(el);
    if (unseen(el)) return { ...said, problem: "is not visible" };
    if (!covered && off(el)) return { ...said, problem: "is disabled" };
    const point = () => {
      const box = el.getBoundingClientRect();
      return [box.left + Math.min(box.width * across, box.width - 1), box.top + Math.min(box.height * down, box.height - 1)];
    };
    said.scrolled = bringPoint(el, point);
    said.box = boxOf(el);
    const [x, y] = point();
    if (!inRoom(el, [x, y])) return { ...said, problem: "has that place outside the window" };
    if (covered) return { ...said, x, y };
    const found = hit(x, y);
    const through = found && el.namespaceURI === "http://www.w3.org/2000/svg" && within(el, found);
    if (found && (reaches(found, el) || through)) return { ...said, x, y };
    return { ...said, problem: found ? `is covered by ${label(found)} at that place` : "has nothing to click at that place" };
  }

  function inRoom(el, [x, y]) {
    const shown = room(el);
    return x >= shown.left && y >= shown.top && x < shown.right && y < shown.bottom;
  }

  // Scrolls until a point of the element is in view, also of one that is larger than the window; tells whether it moved.
  function bringPoint(el, point) {
    if (inRoom(el, point())) return false;
    const before = point();
    for (let node = parentOf(el) || el.getRootNode().host; node; node = parentOf(node) || node.getRootNode().host) {
      if (node === document.body || node === document.documentElement || getComputedStyle(node).overflow === "visible") continue;
      const box = node.getBoundingClientRect(), [x, y] = point();
      if (x >= box.left && x < box.right && y >= box.top && y < box.bottom) continue;
      node.scrollBy({ left: x - (box.left + box.right) / 2, top: y - (box.top + box.bottom) / 2, behavior: "instant" });
    }
    const [x, y] = point();
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) {
      window.scrollBy({ left: x < 0 || x >= innerWidth ? x - innerWidth / 2 : 0,
        top: y < 0 || y >= innerHeight ? y - innerHeight / 2 : 0, behavior: "instant" });
    }
    const after = point();
    return before[0] !== after[0] || before[1] !== after[1];
  }

  // What the pointer was last sent to, as it was before the pointer came.
  let aimed = null;

  function aim(el, said, at) {
    aimed = { el, at, x: said.x, y: said.y, kind: role(el), tag: el.tagName, label: said.label, box: el.getBoundingClientRect(),
      changes: changes.arm() };
  }

  // After the pointer came to what `locate` found: whether it is there still, where it is now, or what took its place.
  // Without `patient`, a page that has changed meanwhile is asked for a second look.
  function pointed(patient) {
    const { el, x, y } = aimed;
    if (!patient && changes.count() !== aimed.changes) return { changed: true };
    const found = hit(x, y);
    const there = el.isConnected && !unseen(el);
    if (there && found && reaches(found, el)) return { same: true };
    const again = there ? reach(el, aimed.at) : describe(el);
    if (there && !("problem" in again)) {
      if (again.x === x && again.y === y) return { same: true };
      aim(el, again, aimed.at);
      return again;
    }
    const heir = replacement(found, there);
    if (!heir) return { ...again, problem: again.problem || "goes away" };
    const said = reach(heir, aimed.at);
    if (!("problem" in said)) aim(heir, said, aimed.at);
    return { ...said, replaced: true };
  }

  // The same role and name under the pointer; where the element has gone, also the same role in its place, or the
  // only one of its role and name elsewhere.
  function replacement(found, there) {
    const { el, kind, tag } = aimed;
    const like = node => node !== el && role(node) === kind && label(node) === aimed.label
      && (aimed.label !== kind || node.tagName === tag);
    const inPlace = node => node !== el && !there && role(node) === kind && overlap(aimed.box, node.getBoundingClientRect()) > 0.5;
    for (let node = found; node && node.nodeType === 1 && node !== document.body; node = parentOf(node) || node.getRootNode().host) {
      if (like(node) || inPlace(node)) return node;
    }
    if (there || aimed.label === kind) return null;
    const others = [];
    all(document, node => { if (!SKIP.has(node.tagName) && role(node) === kind && seen(node) && like(node)) others.push(node); });
    return others.length === 1 ? others[0] : null;
  }

  // How much of the larger of two boxes both share, from 0 to 1.
  function overlap(a, b) {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    return wide > 0 && high > 0 ? wide * high / Math.max(a.width * a.height, b.width * b.height) : 0;
  }

  function points(target) {
    const found = [];
    const area = target.tagName === "AREA" ? faces.areaOf(target) : null;
    if (area) return area.points;
    const el = faceOf(target);
    for (const rect of el.getClientRects()) {
      if (rect.width <= 0 || rect.height <= 0) continue;
      for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9], [0.9, 0.1], [0.1, 0.9]]) {
        found.push([rect.left + rect.width * fx, rect.top + rect.height * fy]);
      }
      if (found.length > 40) break;
    }
    if (found.length) return found;
    const held = around(el);
    return held ? [[held.left + held.width / 2, held.top + held.height / 2]] : [[-1, -1]];
  }

  function all(root, visit) {
    const walker = document.createTreeWalker(root, 1);
    for (let el = walker.nextNode(); el; el = walker.nextNode()) {
      visit(el);
      if (rootOf(el)) all(rootOf(el), visit);
    }
  }

  const seen = target => { const el = faceOf(target); return el.getClientRects().length > 0 && getComputedStyle(el).visibility === "visible"; };

  // Style sheets write names in capitals, and readers of other tools take them for the name.
  const alikeWords = (one, other) => one.toLowerCase() === other.toLowerCase() || one.toUpperCase() === other.toUpperCase();

  function findRole(wanted, text) {
    const exact = [], loose = [];
    all(document, el => {
      if (SKIP.has(el.tagName)) return;
      const kind = role(el);
      const shown = kind === "generic" && (wanted === "text" || wanted === "generic");
      if (kind !== wanted && !shown || !seen(el)) return;
      const said = name(el, kind) || (shown ? content(el) : "");
      if (said === text) exact.push(el);
      else if (alikeWords(said, squash(text))) loose.push(el);
    });
    let found = exact.length ? exact : loose;
    if (wanted === "text" || wanted === "generic") found = found.filter(el => !found.some(other => other !== el && el.contains(other)));
    return found.map(refOf);
  }

  function findXPath(path) {
    try {
      const result = document.evaluate(path, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
      const found = [];
      for (let i = 0; i < result.snapshotLength; i++) if (result.snapshotItem(i).nodeType === 1) found.push(refOf(result.snapshotItem(i)));
      return { refs: found };
    } catch (error) {
      return { problem: String(error.message || error) };
    }
  }

  function focused() {
    let el = document.activeElement;
    while (el && rootOf(el)?.activeElement) el = rootOf(el).activeElement;
    return el && el !== document.body && el !== document.documentElement ? refOf(el) : null;
  }

  // The element under a point that an outline or an action could name.
  function at(x, y) {
    let el = hit(x, y);
    let fallback = null;
    for (; el && el.nodeType === 1; el = parentOf(el) || el.getRootNode().host) {
      if (el === document.body || el === document.documentElement) break;
      if (role(el) === "iframe") return spot(el);
      const said = spot(el);
      if (uses(el, role(el), false).length) return said;
      fallback = fallback || (ownText(children(el)) ? said : null);
    }
    return fallback;
  }

  // The element that a click on `el` is meant for: the nearest that can be used, or itself.
  function nearest(el) {
    for (let one = el; one && one.nodeType === 1; one = parentOf(one) || one.getRootNode().host) {
      if (one === document.body || one === document.documentElement) break;
      if (uses(one, role(one), false).length) return one;
    }
    return el;
  }

  // The ref that an element has got already.
  const known = el => el[REF] ?? null;

  // Whether the last reading shows an element, and which reading that was.
  const shown = el => handed.rows.has(el[REF]);
  const usable = el => handed.rows.get(el[REF])?.includes('"uses":') ?? false;
  const reading = () => handed.number;

  function spot(el) {
    return { ref: refOf(el), label: label(el), box: boxOf(el) };
  }

  // Readies a field for typing: focus it, and choose what the keys will replace.
  function ready(ref, append) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    if (el.readOnly || el.getAttribute("aria-readonly") === "true") return { problem: "is read-only" };
    el.focus();
    const editor = editors.editorOf(el);
    if (editor) return { editor: editors.read(editor) };
    if (el.tagName !== "INPUT" && role(el) === "slider") return { slider: true };
    if (el.tagName === "INPUT" && VALUE_INPUT.has(el.type)) return { assign: true };
    if (el.tagName === "INPUT" || el.tagName === "TEXTAREA") {
      if (append) { try { el.setSelectionRange(el.value.length, el.value.length); } catch { /* types without a caret */ } }
      else el.select();
      return { empty: el.value === "" };
    }
    if (el.isContentEditable) {
      const range = document.createRange();
      range.selectNodeContents(el);
      if (append) range.collapse(false);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      return { empty: el.textContent === "" };
    }
    return { problem: "is not a field that takes text" };
  }

  // Fields without a caret (date, range, colour) take their value whole, as a picker would set it.
  function assign(ref, text) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    const before = el.value;
    setter.call(el, text);
    if (el.type === "range") {
      if (text.trim() === "" || Number(el.value) !== Number(text)) {
        setter.call(el, before);
        const step = el.step === "any" ? "" : ` in steps of ${el.step || 1}`;
        return { problem: `does not take "${text}": its values go from ${el.min || 0} to ${el.max || 100}${step}; it stays at ${before}` };
      }
    } else if (el.value !== text) return { problem: `does not take "${text}"; a value such as ${JSON.stringify(sample(el.type))} fits` };
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return {};
  }
  const sample = type => ({ date: "2024-05-31", time: "13:45", month: "2024-05", week: "2024-W22", color: "#ff8800", range: "50",
    "datetime-local": "2024-05-31T13:45" })[type] || "";

  const written = ref => { const editor = byRef(ref) && editors.editorOf(byRef(ref)); return editor ? editors.read(editor) : null; };
  const paste = (ref, text) => { const editor = editors.editorOf(byRef(ref)); return !!editor && editors.paste(editor, text); };

  // Where a slider stands and between what, as far as it tells.
  function slid(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const number = word => { const given = el.getAttribute("aria-value" + word); return given === null || given === "" ? null : Number(given); };
    if (el.tagName === "INPUT") return { now: Number(el.value), least: Number(el.min || 0), most: Number(el.max || 100), text: el.value };
    return { now: number("now"), least: number("min"), most: number("max"), text: el.getAttribute("aria-valuetext") || "" };
  }

  function choose(ref, text, selected) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    if (el.tagName !== "SELECT") return { problem: "is not a select" };
    if (el.disabled) return { problem: "is disabled" };
    const options = Array.from(el.options);
    const wanted = squash(text);
    const found = options.find(o => squash(o.label || o.text) === wanted) || options.find(o => o.value === text)
      || options.find(o => squash(o.label || o.text).toLowerCase() === wanted.toLowerCase());
    if (!found) return { problem: `has no option "${cut(text, 60)}"; there are: ${options.slice(0, 20).map(o => squash(o.label || o.text)).join(" | ")}` };
    if (found.disabled) return { problem: `has its option "${cut(text, 60)}" disabled` };
    if (!selected && !el.multiple) return { problem: "takes one option at a time: choose another one instead of taking one back" };
    el.focus();
    if (!el.multiple) for (const option of options) option.selected = option === found;
    else if (!selected && !found.selected) return {};
    else found.selected = selected;
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return {};
  }

  // Whether a click on this would ask for a file, as far as where a hidden file field stands tells: inside it, or beside
  // it with nothing else to be used there. Dropzone keeps its field elsewhere.
  function asksForFile(el) {
    if (el.classList.contains("dz-clickable")) return true;
    for (let box = el, up = 0; box && up < 4 && box !== document.body; box = parentOf(box), up++) {
      const fields = box.querySelectorAll("input[type=file]");
      if (!fields.length) continue;
      if (fields.length > 1 || fields[0].disabled || !hiddenField(fields[0])) return false;
      const others = box.querySelectorAll("a[href],button,input:not([type=file]):not([type=hidden]),select,textarea,[role=button]");
      return Array.from(others).every(other => other === el || other.contains(el));
    }
    return false;
  }

  function hiddenField(field) {
    const { width, height } = field.getBoundingClientRect();
    return width < 3 || height < 3 || !shows.call(field, { ...VISIBLE, opacityProperty: true });
  }

  // The field that takes the file: the element itself, the field it labels, or the only one inside.
  function fileField(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const inside = el.querySelectorAll("input[type=file]");
    const field = el.tagName === "LABEL" && el.control ? el.control : inside.length === 1 ? inside[0] : el;
    if (field.type !== "file") return { problem: "is not a file field" };
    if (field.disabled) return { problem: "is disabled" };
    return { ref: refOf(field) };
  }

  function isChecked(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    if (el.type === "checkbox" || el.type === "radio") return { checked: el.checked, radio: el.type === "radio" };
    const aria = el.getAttribute("aria-checked");
    if (aria !== null) return { checked: aria === "true", radio: el.getAttribute("role") === "radio" };
    if (el.tagName === "LABEL" && el.control && "checked" in el.control) return { checked: el.control.checked, radio: el.control.type === "radio" };
    return { problem: "is not a box that can be checked" };
  }

  function scrollBy(ref, direction) {
    let el = ref ? byRef(ref) : null;
    if (ref && !el) return { problem: "is no longer in the page" };
    const editor = el && editors.editorOf(el);
    if (editor?.kind.wheel) return editors.turn(editor, direction);
    if (editor?.kind.scrolls) el = editor.root.querySelector(editor.kind.scrolls) || el;
    const across = direction === "left" || direction === "right";
    const sign = direction === "up" || direction === "left" ? -1 : 1;
    const scrolls = node => {
      const style = getComputedStyle(node);
      return across ? node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(style.overflowX)
        : node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(style.overflowY);
    };
    while (el && !scrolls(el)) el = parentOf(el) || el.getRootNode().host;
    el = el || document.scrollingElement || document.documentElement;
    if (!ref && el.scrollHeight <= innerHeight + 1 && !across) {
      // The page itself does not scroll: take the largest box in view that does.
      let best = null, size = 0;
      for (const node of document.querySelectorAll("*")) {
        if (!scrolls(node)) continue;
        const area = node.clientWidth * node.clientHeight;
        if (area > size) { best = node; size = area; }
      }
      el = best || el;
    }
    const before = across ? el.scrollLeft : el.scrollTop;
    const root = el === document.scrollingElement;
    const amount = 0.8 * (across ? (root ? innerWidth : el.clientWidth) : (root ? innerHeight : el.clientHeight)) * sign;
    el.scrollBy({ [across ? "left" : "top"]: amount, behavior: "instant" });
    const moved = (across ? el.scrollLeft : el.scrollTop) - before;
    return moved === 0 ? { problem: "cannot scroll further " + direction } : {};
  }

  // The next event of a kind, which the page has first; what the browser would do by itself is then left to us.
  let heard = null;

  function hear(type) {
    heard?.stop();
    const mine = heard = { type, event: null, taken: false, changes: changes.arm() };
    const nodes = [];
    const options = [{ capture: true, passive: false }, { passive: false }];
    const last = event => {
      // Where the page has stopped it, nobody comes after.
      if (!event.cancelBubble && !(event.currentTarget === window && event.eventPhase === Event.BUBBLING_PHASE)) return;
      mine.taken = mine.taken || event.defaultPrevented;
      event.preventDefault();
    };
    const first = event => {
      if (mine.event || !event.isTrusted) return;
      mine.event = event;
      for (const node of event.composedPath()) {
        nodes.push(node);
        for (const option of options) node.addEventListener(type, last, option);
      }
    };
    addEventListener(type, first, options[0]);
    mine.stop = () => {
      removeEventListener(type, first, options[0]);
      for (const node of nodes) for (const option of options) node.removeEventListener(type, last, option);
    };
  }

  // Whether the event came, and whether the page has taken it: kept the browser from what it does by itself.
  function wasHeard() {
    if (!heard) return { came: false, taken: false, changed: true };  // Another document has come meanwhile.
    heard.stop();
    return { came: heard.event !== null, taken: heard.taken, changed: changes.count() !== heard.changes };
  }

  // A point in view at which a wheel turns over the element; without one, the middle of the window.
  function wheelPlace(ref) {
    if (!ref) { hear("wheel"); return { x: innerWidth / 2, y: innerHeight / 2 }; }
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    if (editors.editorOf(el)?.kind.wheel) return {};  // It is turned by most of what it shows, see `scrollBy`.
    const free = points(el).filter(point => inRoom(el, point));
    const best = free.find(point => hit(...point) === el) || free.find(point => { const found = hit(...point); return found && reaches(found, el); });
    if (!best) return {};
    hear("wheel");
    return { ...describe(el), box: boxOf(el), x: best[0], y: best[1] };
  }

  // The words of an element that are to be selected, found by `findWords`.
  let wanted = null;

  // The text of an element as it is shown, and where each of its characters stands.
  function standing(el) {
    const spots = [];
    let text = "", gap = true;
    const put = (char, spot) => { text += char; spots.push(spot); };
    const space = () => { if (!gap) put(" ", null); gap = true; };
    const visit = node => {
      if (node.nodeType === 3) {
        for (let i = 0; i < node.data.length; i++) {
          if (/[\s\u00a0]/.test(node.data[i])) { if (!gap) put(" ", [node, i]); gap = true; }
          else { put(node.data[i], [node, i]); gap = false; }
        }
      } else if (node.nodeType === 1 && node.tagName === "BR") space();
      else if (node.nodeType === 1 && !SKIP.has(node.tagName)) {
        const style = getComputedStyle(node);
        if (style.display === "none" || style.visibility !== "visible") return;
        const block = style.display !== "inline" && style.display !== "contents";
        if (block) space();
        for (const child of children(node)) visit(child);
        if (block) space();
      }
    };
    visit(el);
    return { text, spots };
  }

  function findWords(ref, asked, nth) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const said = describe(el);
    const isField = el.tagName === "TEXTAREA" || el.tagName === "INPUT" && TEXT_INPUT.has(el.type) && !VALUE_INPUT.has(el.type);
    if (!isField && unseen(el)) return { ...said, problem: "is not visible" };
    const { text, spots } = isField ? { text: el.value, spots: null } : standing(el);
    const whole = isField ? text : text.trim();
    const words = asked === "" ? whole : isField ? asked : squash(asked);
    if (!words) return { ...said, problem: "has no text to select" };
    let places = occurrences(text, words);
    if (!places.length && text.toLowerCase().length === text.length) places = occurrences(text.toLowerCase(), words.toLowerCase());
    const named = JSON.stringify(cut(words, 60));
    if (!places.length) return { ...said, problem: `has no text ${named}; it has ${JSON.stringify(cut(whole, 200))}` };
    if (nth > places.length) return { ...said, problem: `has ${named} ${places.length} times, and not ${nth} times` };
    if (!nth && places.length > 1) return { ...said, problem: `has ${named} ${places.length} times: say which with nth, from 1 to ${places.length}` };
    const from = places[Math.max(nth, 1) - 1], to = from + words.length;
    if (isField) {
      const pieces = part => Array.from(new Intl.Segmenter().segment(part)).length;
      wanted = { el, from, to, words: text.slice(from, to) };
      return { ...said, field: true, before: pieces(text.slice(0, from)), letters: pieces(wanted.words) };
    }
    const range = document.createRange();
    range.setStart(...spots[from]);
    range.setEnd(spots[to - 1][0], spots[to - 1][1] + 1);
    wanted = { el, range };
    // A link or a picture would be dragged itself, and a button does not let its words be selected by mouse.
    const held = [spots[from][0], spots[to - 1][0]].some(node => node.parentElement.closest("a[href],button,[draggable=true],summary,label"));
    if (!getSelection().isCollapsed) getSelection().removeAllRanges();  // What is selected already would be dragged.
    return { ...said, box: boxOf(el), by_mouse: !held };
  }

  function occurrences(text, words) {
    const found = [];
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) found.push(at);
    return found;
  }

  // Brings one end of the words into view and tells the point at which the mouse begins or ends to select them.
  function endOfWords(last) {
    const { el, range } = wanted;
    const node = last ? range.endContainer : range.startContainer;
    const one = document.createRange();
    one.setStart(node, last ? range.endOffset - 1 : range.startOffset);
    one.setEnd(node, last ? range.endOffset : range.startOffset + 1);
    const point = () => {
      const rects = one.getClientRects(), rect = (last ? rects[rects.length - 1] : rects[0]) || one.getBoundingClientRect();
      const leftward = getComputedStyle(node.parentElement).direction === "rtl" !== last;
      return [leftward ? rect.right - 0.5 : rect.left + 0.5, (rect.top + rect.bottom) / 2];
    };
    const moved = bringPoint(node.parentElement, point);
    const [x, y] = point();
    const found = hit(x, y);
    return { ...describe(el), x, y, scrolled: moved, free: !!found && (within(found, el) || within(el, found)) };
  }

  // Sets the caret before the words of a field, or so that they are selected but for their last letters.
  function caret(extent) {
    const { el, from, words } = wanted;
    try {
      const letters = Array.from(new Intl.Segmenter().segment(words), one => one.segment);
      el.setSelectionRange(from, from + letters.slice(0, extent).join("").length);
      return { caret: true };
    } catch { return {}; }  // E-mail and number fields have none that a script could set.
  }

  // Whether the words are selected now; with `directly`, they are selected without input where they are not.
  function wordsSelected(directly) {
    const { el, range, from, to } = wanted;
    const is = () => range ? squash(getSelection().toString()) === squash(range.toString()) || same(getSelection(), range)
      : el.selectionStart === null ? getSelection().toString() === wanted.words : el.selectionStart === from && el.selectionEnd === to;
    if (is() || !directly) return is();
    if (range) getSelection().setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
    else { try { el.setSelectionRange(from, to); } catch { /* as with `caret` */ } }
    return is();
  }

  const same = (selection, range) => selection.rangeCount > 0 && selection.toString() !== ""
    && selection.getRangeAt(0).compareBoundaryPoints(Range.START_TO_START, range) === 0
    && selection.getRangeAt(0).compareBoundaryPoints(Range.END_TO_END, range) === 0;

  // Resolves when nothing has changed for two painted frames, or at the bound.
  function settle(most, quietFrames) {
    return new Promise(done => {
      const started = performance.now();
      let changed = false, quiet = 0, over = false;
      const observer = new MutationObserver(() => { changed = true; });
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      const end = reason => {
        if (over) return;
        over = true;
        observer.disconnect();
        clearTimeout(bound);
        done({ reason, milliseconds: performance.now() - started });
      };
      const bound = setTimeout(() => end("still changing"), most);
      const frame = () => {
        if (over) return;
        const moving = document.getAnimations().some(a => a.playState === "running"
          && Number.isFinite(a.effect?.getComputedTiming().endTime) && a.effect.getComputedTiming().endTime < 2000);
        quiet = changed || moving ? 0 : quiet + 1;
        changed = false;
        if (quiet >= quietFrames && document.readyState !== "loading") end("quiet"); else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
  }

  function waitForChange(most) {
    return new Promise(done => {
      const end = reason => { observer.disconnect(); clearTimeout(bound); done({ reason }); };
      const observer = new MutationObserver(() => end("changed"));
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
      const bound = setTimeout(() => end("nothing changed"), most);
    });
  }

  // Elements that have a shadow root, or may have a closed one, and were not told of before; null for none.
  // Only the protocol sees closed roots: it is asked about custom elements, and empty boxes that take up room.
  const HOSTS = new Set(["ARTICLE", "ASIDE", "BLOCKQUOTE", "DIV", "FOOTER", "H1", "H2", "H3", "H4", "H5", "H6",
    "HEADER", "MAIN", "NAV", "P", "SECTION", "SPAN"]);
  const EMPTY_ASKED = 60;

  function hosts() {
    const found = [];
    let empty = 0;
    all(document, el => {
      if (el[LOOKED]) return;
      const open = el.shadowRoot;
      if (!open) {
        if (el.tagName.includes?.("-")) {
          if (!el.matches(":defined")) return;
        } else if (el.firstChild || !HOSTS.has(el.tagName) || empty >= EMPTY_ASKED || !el.offsetHeight) return;
        else empty++;
      }
      el[LOOKED] = true;
      if (found.length < 300) found.push(el); else el[LOOKED] = false;
    });
    return found.length ? found : null;
  }

  function openRoot(host, root) {
    host[CLOSED] = root;
  }

  // Where the inside of a frame's element lies in this document's viewport.
  function framePlace(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const box = el.getBoundingClientRect(), style = getComputedStyle(el);
    const scale = el.offsetWidth ? box.width / el.offsetWidth : 1;
    return { x: box.left + (el.clientLeft + parseFloat(style.paddingLeft)) * scale,
      y: box.top + (el.clientTop + parseFloat(style.paddingTop)) * scale, scale };
  }

  // Brings a point inside a frame into view and tells where it lies here, or what is in front of it unless that may be.
  function throughFrame(ref, x, y, covered) {
    const el = byRef(ref);
    if (!el) return { problem: "lies in a frame that is no longer in the page" };
    const before = scrollX + scrollY;
    const point = () => { const at = framePlace(ref); return [at.x + x * at.scale, at.y + y * at.scale]; };
    const out = (px, py, box) => px < box.left || py < box.top || px >= box.right || py >= box.bottom;
    for (let node = parentOf(el) || el.getRootNode().host; node; node = parentOf(node) || node.getRootNode().host) {
      if (node === document.body || node === document.documentElement) break;
      const box = node.getBoundingClientRect();
      const [px, py] = point();
      if (out(px, py, box) && getComputedStyle(node).overflow !== "visible") {
        node.scrollBy({ left: px - (box.left + box.right) / 2, top: py - (box.top + box.bottom) / 2, behavior: "instant" });
      }
    }
    let [px, py] = point();
    if (out(px, py, { left: 0, top: 0, right: innerWidth, bottom: innerHeight })) {
      window.scrollBy({ left: px - innerWidth / 2, top: py - innerHeight / 2, behavior: "instant" });
      [px, py] = point();
    }
    if (out(px, py, { left: 0, top: 0, right: innerWidth, bottom: innerHeight })) return { problem: "has no point inside the window that could be clicked" };
    const moved = before !== scrollX + scrollY;
    const found = hit(px, py);
    if (found && !covered && !within(found, el)) return { problem: `is covered by ${label(found)}` };
    const at = framePlace(ref);
    return { x: px, y: py, left: at.x, top: at.y, scale: at.scale, moved };
  }

  // Calls a function that may name elements: refs begin at `from`, where other documents have stopped.
  function ask(from, call, ...given) {
    if (from > next) next = from;
    const value = calls[call](...given);
    return { value, next };
  }

  function listen(types, ...targets) {
    targets.forEach((target, index) => {
      if (target?.nodeType === 1) target[LISTENS] = types[index];
    });
  }

  const tagOf = ref => byRef(ref)?.tagName ?? "";
  const labelOf = ref => { const el = byRef(ref); return el ? label(el) : ""; };
  const markedHtml = hidden => html(hidden, true);
  const calls = { walk, markedHtml, locate, place, pointed, findRole, findXPath, focused, at, spot, ready, assign, written, paste, slid, choose, isChecked, scrollBy, refOf, fileField,
    hear, wasHeard, wheelPlace, findWords, endOfWords, caret, wordsSelected,
    framePlace, throughFrame, openRoot, tagOf, labelOf };
  globalThis.__backstep = Object.freeze({ ...calls, ask, hosts, settle, waitForChange, listen, byRef, label, xpath, nearest, known, shown, usable, reading });
})();
