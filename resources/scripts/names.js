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

  function withLabels(work) {
    labelled = new Map();
    try { work(); } finally { labelled = null; }
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
        for (const child of children(node)) visit(child);
        if (block) out += " ";
        return;
      }
      for (const child of children(node)) visit(child);
    };
    visit(el);
    return squash(out);
  }

  function label(el) {
    const kind = role(el);
    const said = name(el, kind) || cut(content(el), 80);
    return said ? `${kind} "${cut(said, 80)}"` : kind;
  }

  return Object.freeze({ ROLES, WORDS, FROM_CONTENT, FIELD, role, name, withLabels, labelsOf, content, label });
})();
