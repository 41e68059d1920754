// Reads a document: a row for each element that a person could see or use, in the order of the page, and the HTML.
const reading = (() => {
  const { REF, LISTENS, SKIP, isSecret, secretOf, bullets, parentOf, shows, tagNameOf, rootOf, squash, cut, digest, refOf, wordsRef, byRef, children, VISIBLE,
    r1, around, room } = elements;
  const { ROLES, WORDS, FROM_CONTENT, FIELD, role, name, withLabels, content, isStyled, styleWords } = names;
  const { CLICKABLE, listens, uses, states, value, detail, asksForFile } = traits;

  // Boxes that only group: shown where they have a name or a role of their own making.
  const STRUCTURE = new Set(["article", "complementary", "group", "form", "list", "main", "navigation", "rowgroup",
    "row", "table", "search", "figure", "region", "banner", "contentinfo", "blockquote", "dialog", "tablist",
    "menu", "menubar", "toolbar", "tree", "grid", "listbox", "radiogroup", "tabpanel", "alertdialog"]);
  const ALWAYS = new Set(["dialog", "alertdialog", "table", "row", "list", "navigation", "form", "menu", "listbox",
    "tree", "grid", "tablist", "main", "search", "radiogroup"]);

  const SVG = "http://www.w3.org/2000/svg";
  const CELLS = new Set(["cell", "gridcell", "columnheader", "rowheader"]);

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
    return !!holder && shows.call(holder, VISIBLE) && !!faces.faceOf(control) && !faces.carrier(control);
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

  // Whether a part of a drawing lies where nobody gets to see it: outside its picture, or left of or above the page.
  function beyond(el, box, pictures) {
    const svg = el.ownerSVGElement;
    let held = svg && pictures.get(svg);
    if (svg && held === undefined) {
      held = getComputedStyle(svg).overflow === "visible" ? null : svg.getBoundingClientRect();
      pictures.set(svg, held);
    }
    if (held && (box.right <= held.left || box.left >= held.right || box.bottom <= held.top || box.top >= held.bottom)) return true;
    if (box.right + scrollX > 0 && box.bottom + scrollY > 0) return false;
    for (let node = parentOf(el); node; node = parentOf(node)) {
      if (node !== document.scrollingElement && (node.scrollLeft || node.scrollTop)) return false;
    }
    return true;
  }

  // The columns of cells that do not stand where counting them says, because of cells that span several.
  function columnsOf(table) {
    const found = new Map(), taken = [];
    let left = 20000;                              // A page may ask for more than it has.
    Array.from(table.rows).forEach((row, at) => {
      let column = 0;
      Array.from(row.cells).forEach((cell, index) => {
        while (taken[at]?.has(column)) column++;
        if (column !== index) found.set(cell, column + 1);
        const down = Math.min(cell.rowSpan || Infinity, table.rows.length - at);
        for (let i = 1; i < down; i++) for (let j = 0; j < cell.colSpan && left-- > 0; j++) (taken[at + i] ??= new Set()).add(column + j);
        column += cell.colSpan;
      });
    });
    return found;
  }

  // The room inside a box that has no size and shows nothing beyond it. What is fixed gets out of it; from a box that is
  // not positioned, so does what is absolutely placed.
  const HELD = Object.freeze({ left: 0, top: 0, right: 0, bottom: 0 }), LOOSE = Object.freeze({ left: 0, top: 0, right: 0, bottom: 0 });
  const gone = clip => clip === HELD || clip === LOOSE;

  // Whether a click on an element inside is a click on something else than `el`, in the page as it is shown.
  function holdsUsable(el) {
    if (el.querySelector(USABLE) || Array.from(el.querySelectorAll("input[type=file]")).some(one => !faces.concealed(one))) return true;
    return composed(el) && children(el).some(child => child.nodeType === 1 && !SKIP.has(child.tagName) && (child.matches(USABLE) || holdsUsable(child)));
  }

  // Whether a box inside a control that only answers clicks is a piece of the control, and tells nothing of its own.
  function isPartOf(control, label, box) {
    return label ? label === control.name : 2 * box.width * box.height >= control.box.width * control.box.height;
  }

  // Takes out the row of a box that only answers clicks where it holds one control, with the same words.
  function unwrap(out, record, words) {
    const at = out.lastIndexOf(record), inside = out.slice(at + 1), controls = inside.filter(one => one.uses);
    const [only] = controls;
    if (controls.length !== 1 || only.name !== words || !CLICKABLE.has(only.role) || !record.uses.every(use => only.uses.includes(use))) return;
    out.splice(at, 1);
    for (const one of inside) {
      if (one.depth === 1) delete one.depth; else one.depth--;
      if (one.parent !== record.ref) continue;
      if (record.parent) one.parent = record.parent; else delete one.parent;
    }
  }

  const USABLE = "a[href],button,input:not([type=file]),select,textarea,[onclick],[tabindex],[role=button],[role=link],[role=tab],[role=checkbox],[role=radio],[role=switch]";
  const composed = el => rootOf(el) || el.getRootNode() !== document || Array.from(el.querySelectorAll("*")).some(rootOf);

  // The last reading as it was handed over: its number, each row by its ref, their order, the HTML.
  let handed = { number: 0, rows: new Map(), order: "", html: "" };

  // Reads the document. Where `options.known` names the last reading, only what differs from it is handed over: the
  // elements whose rows changed, the order where that changed, and the HTML between what begins and ends alike.
  function walk(options) {
    const limit = options.limit;
    const hidden = options.hidden.length ? options.hidden.join(",") : null;
    const out = [], frames = [], choices = [];
    const asking = new Map(), clear = [];        // field for a file -> the row of its button; the rows of transparent fields
    const pictures = new Map(), columns = new Map();  // see `beyond`, `columnsOf`
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

    // What is passed over in a root: parts that nobody can use, and what the fields of editors tell already. And which
    // boxes are disabled, or are not although one round them is.
    const aside = new Set(), written = new Map(), drawers = new Set(), bars = new Map();
    const meet = root => {
      for (const el of root.querySelectorAll("[inert],[aria-disabled]," + editors.ALL)) {
        if (el.inert) { aside.add(el); continue; }
        const barred = el.getAttribute("aria-disabled");
        if (barred) bars.set(el, barred === "true");
        const editor = editors.made(el);
        if (!editor) continue;
        written.set(editor.field, editor);
        if (editor.field !== el) drawers.add(el);
        for (const one of el.querySelectorAll(editor.kind.aside)) if (!one.contains(editor.field)) aside.add(one);
      }
    };
    meet(document);
    const hoverers = new Set();
    hovering.find(document, hoverers);

    // Asking for style is most of the work: it is asked for only where it tells something.
    const visit = (el, depth, parent, clip, inPointer, delegated, covered, barred, control) => {
      const tag = tagNameOf(el);
      if (SKIP.has(tag)) return;
      if (hidden && el.matches(hidden)) return;
      if (aside.size && aside.has(el)) return;
      const editor = written.size ? written.get(el) : undefined;
      if (bars.size && bars.has(el)) barred = bars.get(el);
      const face = tag === "INPUT" ? faces.faceOf(el) : editor?.root;
      if ((tag === "INPUT" || tag === "SELECT" || tag === "TEXTAREA" && !editor) && faces.carrier(el)) return;
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
      if (gone(clip) && (css().position === "fixed" || clip === LOOSE && style.position === "absolute")) clip = view;
      const root = rootOf(el);
      if (root) { reading.root(root); meet(root); hovering.find(root, hoverers); }
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
      if (sized && el.namespaceURI === SVG && beyond(el, box, pictures)) return;
      let inner = clip;
      if (parents && css().overflow !== "visible") {
        reading.scroller(el);
        if (box && !outer && style.display !== "inline") {
          if (gone(clip)) inner = clip;
          else if (!(box.width > 0 && box.height > 0) || el.getAttribute("aria-hidden") === "true" && faces.clipped(style)) inner = style.position === "static" ? LOOSE : HELD;
          else inner = { left: Math.max(clip.left, box.left), top: Math.max(clip.top, box.top),
            right: Math.min(clip.right, box.right), bottom: Math.min(clip.bottom, box.bottom) };
        }
      }
      if (face || area) clip = room(face || area.image);
      else if (gone(clip)) shown = false;
      if (tag === "INPUT" || tag === "TEXTAREA" || tag === "SELECT") reading.field(el);
      if (shown && sized) reading.drawn(el, tag);
      const kind = role(el);
      if (shown && boxed && box.height > 0 && CELLS.has(kind)) sized = true;    // An empty cell keeps the place of its column.
      const isFrame = kind === "iframe";
      const checking = tag === "LABEL" && toldByControl(el);
      let used = [], own = "";
      if (shown && sized) {
        const told = whole || tag === "INPUT" || CLICKABLE.has(kind);  // whatever the pointer looks like
        if (!outer) used = uses(el, kind, !told && !inPointer && !checking && css().cursor === "pointer");
        own = editor || tag === "DETAILS" && !el.open ? "" : ownText(nodes);
        if (isStyled(el)) own = squash(styleWords(el, "::before") + own + styleWords(el, "::after"));
        if (!used.length && delegated && own && !checking) used = ["click"];
        if (checking && faces.faceOf(el.control)) used = [];
      }
      if (tag === "LABEL" && el.control && !used.includes("click") && !checking) {
        const target = el.control.getBoundingClientRect();
        if (el.control.tagName === "TEXTAREA" && el.control.nextElementSibling?.matches(editors.ALL)) used = [];
        else if (!(target.width > 0 && target.height > 0)) used = el.control.type === "file" ? ["upload"] : ["click"];
      }
      const asked = filesAsked && used.includes("click") && tag !== "INPUT" && asksForFile(el);
      if (asked) used = [...used, "upload"];
      let record = null, below = depth, heir = parent, wraps = "";
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
            if (holdsUsable(el)) { wraps = label; label = own; }
          }
        } else if (own && !covered) {
          as = "text";
          running = plain(el, 0);
          label = running ? content(el, null, true) || own : own;
        } else if (!own && (!nodes.length || whole) && (el.title || el.hasAttribute("aria-label"))) {
          as = "img";                              // an icon drawn by its style
          label = name(el, kind);
        }
        if (isText && control && used.join() === "click" && isPartOf(control, label, box)) used = [];
        const called = !isText && !used.length && (el.hasAttribute("aria-label") || el.hasAttribute("aria-labelledby"));
        if (own && !covered && (STRUCTURE.has(kind) || called && WORDS.has(kind)) && !label.includes(own)) {
          running = plain(el, 0);
          loose = running ? content(el, null, true) : own;
        }
        const wholly = FROM_CONTENT.has(kind) || (isText && (used.length > 0 || as === "text"));
        // A control that is named by something else does not tell what its label says.
        const labelled = el.tagName === "LABEL" && el.control && !used.length && (checking || alike(name(el.control, role(el.control)), content(el, el.control)));
        let show = used.length > 0 || isFrame;
        if (!show && (as === "text" || as === "img" && isText)) show = !!label && !labelled && !(covered && as === "img");
        else if (!show && STRUCTURE.has(kind)) show = !!label || ALWAYS.has(kind);
        else if (!show && kind === "presentation") show = false;
        else if (!show && !isText) show = !!label && !covered || kind === "separator" || kind === "canvas"
          || kind === "graphics-symbol" && !covered || kind === "progressbar" || kind === "img" && !covered || CELLS.has(kind);
        if (el.tagName === "OPTION" || el.tagName === "OPTGROUP") show = false;
        if (kind === "separator" || drawers.size && drawers.has(el)) show = false;
        // What shows more while the pointer is over it; over a control, the control is what is pointed at.
        const hovers = !covered && !control && !outer && !used.includes("click") && (hoverers.has(el) || hovering.told(el, tag));
        // A box that is not listed itself is pointed at by a control in it.
        const reached = () => Array.from(el.querySelectorAll(USABLE)).some(one => shows.call(one, VISIBLE));
        if (hovers && !show && !reached() && (label ||= cut(content(el), 100))) show = true;
        if (show) {
          if (!STRUCTURE.has(kind)) label = cut(label, 1000);
          record = { ref: refOf(el), role: as, box: { x: r1(box.left), y: r1(box.top), width: r1(box.width), height: r1(box.height) } };
          if (label) record.name = label;
          const held = value(el, kind, editor); if (held) record.value = cut(held, 2000);
          if (held.length > 2000) record.digest = digest(held);
          const hides = secretOf(el); if (hides) record.hides = hides;
          const st = states(el, kind, active, barred && used.length > 0);
          if (tag === "TABLE" && el.querySelector("[colspan],[rowspan]")) for (const [cell, column] of columnsOf(el)) columns.set(cell, column);
          if (columns.has(el) && !el.hasAttribute("aria-colindex")) st.push("column " + columns.get(el));
          if (st.length) record.states = st;
          const more = detail(el, kind, css, label, used.length > 0, box, editor); if (more) record.detail = more;
          if (hovers) used = [...used, "hover"];
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
          if (record && held && kind === "combobox" && tag === "INPUT" && el.value === "") choices.push([record, faces.chosen(el).box]);
          if (record && asked) asking.set(asked, record);
          if (record && tag === "INPUT" && el.type === "file" && css().opacity === "0") clear.push([record, el]);
          below = depth + 1; heir = record ? record.ref : parent;
          if (record && CLICKABLE.has(kind)) control = record;
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
        if (node.nodeType === 1) visit(node, below, heir, inner, pointer, handing, swallow, barred, control);
      }
      if (wraps && record) unwrap(out, record, wraps);
    };

    withLabels(() => { if (body) visit(body, 0, 0, view, false, false, false, false, null); });
    for (const [record, el] of clear) if (asking.has(el)) out.splice(out.indexOf(record), 1);
    const once = choices.length ? withoutRepeated(out, choices) : out;
    const before = options.known === handed.number ? handed : { rows: new Map(), order: null, html: "" };
    const rows = new Map(), changed = [];
    for (const record of once) {
      const row = JSON.stringify(record);
      rows.set(record.ref, row);
      if (before.rows.get(record.ref) !== row) changed.push(row);
    }
    const order = Array.from(rows.keys()).join(",");
    const text = html(hidden);
    const [begins, ends] = shared(before.html, text);
    handed = { number: reading.end(), rows, order, html: text };
    const head = JSON.stringify({
      url: location.href, title: title(), frames, omitted, reading: handed.number,
      viewport: [innerWidth, innerHeight], scroll: [Math.round(scrollX), Math.round(scrollY)],
      document: String(Math.round(performance.timeOrigin * 10)),
      html: text.slice(begins, text.length - ends), html_kept: [begins, ends],
    });
    const ordered = order === before.order ? "" : `,"order":[${order}]`;
    return `${head.slice(0, -1)},"elements":[${changed.join(",")}]${ordered}}`;
  }

  // Leaves out the words that show what was chosen in a list: they are told as its value. `choices` has the row of each
  // list and the box that its words stand in; words right beside the field are its label rather.
  function withoutRepeated(rows, choices) {
    const holding = new Set(rows.map(row => row.parent));
    const within = (box, el) => el !== box && box.contains(el);
    return rows.filter(row => row.role !== "text" || row.uses || holding.has(row.ref)
      || !choices.some(([list, box]) => list.value === row.name && within(box, byRef(row.ref))));
  }

  const alike = (one, other) => one.includes(other) || one !== "" && other.includes(one);

  // How many characters two texts have in common at their beginning, and of the rest at their end.
  function shared(before, after) {
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
    return more > 0 ? `${whole.slice(0, 2000)} (… ${more} more characters left out)` : whole;
  }

  // With `marked`, each element of the last reading carries its ref as data-ref.
  function html(hidden, marked = false) {
    const root = document.documentElement;
    if (!root) return "";
    const away = "script" + (hidden ? "," + hidden : "");
    // Some pages write what was typed into the attribute, too.
    const secret = Array.from(root.querySelectorAll("input[value]"), isSecret);
    if (!marked && !secret.includes(true) && !document.querySelector(away)) return root.outerHTML;
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
    copy.querySelectorAll("input[value]").forEach((el, at) => { if (secret[at]) el.setAttribute("value", bullets(el.getAttribute("value"))); });
    for (const el of copy.querySelectorAll(away)) el.remove();
    // There scripts are off, and what is in a noscript would be written as words: it is put in afterwards.
    const quoted = Array.from(copy.querySelectorAll("noscript"), el => el.textContent);
    if (!quoted.length) return copy.outerHTML;
    const mark = `backstep ${Math.random()} `;
    copy.querySelectorAll("noscript").forEach((el, index) => { el.textContent = mark + index + ";"; });
    return copy.outerHTML.replace(new RegExp(`${mark}(\\d+);`, "g"), (_, index) => quoted[index]);
  }

  const markedHtml = hidden => html(hidden, true);

  // The ref that an element has got already.
  const known = el => el[REF] ?? null;

  // Whether the last reading shows an element, and which reading that was.
  const shown = el => handed.rows.has(el[REF]);
  const usable = el => handed.rows.get(el[REF])?.includes('"uses":') ?? false;
  const lastReading = () => handed.number;

  return Object.freeze({ ownText, walk, markedHtml, known, shown, usable, lastReading });
})();
