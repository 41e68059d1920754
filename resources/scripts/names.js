// What an element is and what it is called: its role, its accessible name, the words inside it.
const names = (() => {
  const { SKIP, isSecret, parentOf, squash, cut, children } = elements;

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
    TH: headerRole, THEAD: "rowgroup", TR: "row", UL: "list",
    CANVAS: "canvas", VIDEO: "video", AUDIO: "audio", svg: "img", BLOCKQUOTE: "blockquote", CODE: "code",
  };
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
  const SHAPES = new Set(["circle", "rect", "ellipse", "polygon", "polyline", "path", "line", "image", "use"]);
  const FIELD = new Set(["INPUT", "TEXTAREA", "SELECT", "BUTTON"]);

  // A head without a scope is that of its row where the row has plain cells too.
  function headerRole(e) {
    if (e.scope) return /^row/.test(e.scope) ? "rowheader" : "columnheader";
    return parentOf(e)?.tagName === "TR" && Array.from(parentOf(e).children).some(cell => cell.tagName === "TD") && !e.closest("thead")
      ? "rowheader" : "columnheader";
  }

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

  // What a script draws in place of a field, which it hides beside it: the field's label names that.
  const DRAWN = new Set(["combobox", "listbox", "textbox", "searchbox"]);
  const isField = el => FIELD.has(el.tagName) && el.tagName !== "BUTTON";

  function labelOfHidden(el) {
    for (let box = el, up = 0; box && up < 5; box = parentOf(box), up++) {
      for (const other of [box.previousElementSibling, box.nextElementSibling]) {
        const hidden = other?.tagName === "SELECT" || other?.tagName === "INPUT" && !isField(el);
        if (hidden && faces.unreachable(other)) return squash(other.getAttribute("aria-label") || "") || labels(other);
      }
    }
    return "";
  }

  function name(el, kind) {
    const said = ownName(el, kind);
    if (!said && el.type === "file" && faces.concealed(el)) {  // The words that it lies over name it, unless they are a button.
      const [box] = faces.holders(el);
      return box && !box.closest("a[href],button,[role=button],[tabindex],[onclick]") ? cut(content(box), 80) : "";
    }
    const drawn = DRAWN.has(kind) && !labelsOf(el).length && (!said || !isField(el) && said === content(el));
    return drawn && labelOfHidden(el) || said;
  }

  // Accessible name after the W3C computation (accname 1.2): labelledby, label, native, content, title, placeholder.
  function ownName(el, kind) {
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

  // During a walk: control -> its labels, by root. `el.labels` searches the whole tree at each call. And by root, what
  // style sheets write words beside.
  let labelled = null, styled = null;

  function withLabels(work) {
    labelled = new Map();
    styled = new Map();
    try { return work(); } finally { labelled = styled = null; }
  }

  // The words of a rule's `content`, but for the letters of icon fonts.
  const WRITES = /attr\(|var\(|"[^"]*[^\s"\ue000-\uf8ff\u{f0000}-\u{10ffff}][^"]*"/u;
  const SIDE = "::?(?:before|after)\\b", SIDES = new RegExp(SIDE, "g"), BARE_SIDE = new RegExp("(^|[\\s>+~,(])" + SIDE, "g");
  const written = new WeakMap();  // style sheet -> how many rules it had, and the selectors of those that write words

  function selectorsOf(sheet) {
    let rules;
    try { rules = sheet.cssRules; } catch { return []; }  // It comes from another site.
    const known = written.get(sheet);
    if (known?.[0] === rules.length) return known[1];
    const found = [];
    const visit = (rules, outer) => {
      for (const rule of rules) {
        if (rule.styleSheet) found.push(...selectorsOf(rule.styleSheet));
        const own = rule.selectorText, whole = own && outer ? own.replace(/&/g, `:is(${outer})`) : own || outer;
        if (own?.search(SIDES) >= 0 && WRITES.test(rule.style.content)) found.push(whole.replace(BARE_SIDE, "$1*").replace(SIDES, ""));
        if (rule.cssRules?.length) visit(rule.cssRules, whole);
      }
    };
    visit(rules, "");
    const valid = found.filter(one => { try { return !document.createDocumentFragment().querySelector(one); } catch { return false; } });
    written.set(sheet, [rules.length, valid]);
    return valid;
  }

  // Whether a style sheet writes words before or after what is in an element. To ask each element itself takes too long.
  function isStyled(el) {
    const root = el.getRootNode();
    let found = styled?.get(root);
    if (!found) {
      const selectors = [...root.styleSheets || [], ...root.adoptedStyleSheets || []].flatMap(selectorsOf).join();
      if (!styled) return selectors !== "" && el.matches(selectors);
      styled.set(root, found = new Set(selectors ? root.querySelectorAll(selectors) : []));
    }
    return found.has(el);
  }

  // What a style sheet writes there, or the words that it gives instead after a slash.
  function styleWords(el, side) {
    const style = getComputedStyle(el, side), pieces = ["", ""];
    if (style.display === "none" || style.visibility !== "visible") return "";
    let at = 0;
    for (const [piece, words] of style.content.replace(/[\w-]+\((?:"(?:[^"\\]|\\.)*"|[^()"])*\)/g, "").matchAll(/"((?:[^"\\]|\\.)*)"|\//g)) {
      if (piece === "/") at = 1; else pieces[at] += words.replace(/\\(.)/g, "$1");
    }
    const said = pieces[at].replace(/[\ue000-\uf8ff\u{f0000}-\u{10ffff}]/gu, "");
    return style.display === "inline" && !at ? said : ` ${said} `;
  }

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
    if (only && only === el.lastChild && only.nodeType === 3 && !el.shadowRoot && !isStyled(el)) return squash(only.data);
    let out = "";
    const inside = node => {
      const styled = isStyled(node);
      if (styled) out += styleWords(node, "::before");
      for (const child of children(node)) visit(child);
      if (styled) out += styleWords(node, "::after");
    };
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
          if (node.type !== "checkbox" && node.type !== "radio" && !isSecret(node)) out += " " + node.value + " ";
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
        inside(node);
        if (block) out += " ";
        return;
      }
      inside(node);
    };
    visit(el);
    return squash(out);
  }

  function label(el) {
    const kind = role(el);
    const said = name(el, kind) || cut(content(el), 80);
    return said ? `${kind} "${cut(said, 80)}"` : kind;
  }

  return Object.freeze({ ROLES, WORDS, FROM_CONTENT, FIELD, role, name, withLabels, labelsOf, content, isStyled, styleWords, label });
})();
