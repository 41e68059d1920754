// The elements of a document: their refs, the tree in which they are shown with its shadow roots, and where they stand.
const elements = (() => {
  // Properties set here are seen in this world only: each world has its own wrapper of an element.
  const REF = Symbol("ref");
  const OWN = Symbol("own");           // the ref of an element's own words
  const LISTENS = Symbol("listens");   // event types an element listens to, told from outside
  const CLOSED = Symbol("closed");     // an element's closed shadow root, handed in from outside
  const LOOKED = Symbol("looked");     // an element whose shadow root the outside has been told of, or knows there is none
  const numbered = new Map();          // ref -> WeakRef(element)
  let next = 1;

  const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "TITLE", "BASE",
    "defs", "clipPath", "mask", "linearGradient", "radialGradient", "style", "metadata", "BR", "WBR"]);

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

  // A short number of a text (cyrb53): two texts that differ share it only by chance.
  const digest = text => {
    let high = 0xdeadbeef, low = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
  };

  // Fields whose words are told as bullets, by what they hold: also while the page shows it.
  const hidden = new WeakMap();
  const kinds = new Map();
  const words = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g;

  function kindOfName(name) {
    if (!name || name.length > 80) return "";
    if (!kinds.has(name)) {
      const found = (name.match(words) || []).map(one => one.toLowerCase());
      const said = !secretRules.asking.includes(found[0]) && !secretRules.describing.includes(found.at(-1));
      const joined = `-${found.join("-")}-`, at = one => joined.lastIndexOf(one) + one.length;
      const hits = said ? Object.entries(secretRules.names).filter(([one, kind]) => joined.includes(one) && (kind !== "PIN" || joined.endsWith(one))) : [];
      kinds.set(name, hits.sort(([one], [other]) => at(other) - at(one))[0]?.[1] ?? "");
    }
    return kinds.get(name);
  }

  function secretOf(el) {
    const field = el.tagName === "INPUT";
    if (!field && el.tagName !== "TEXTAREA") return "";
    if (hidden.has(el)) return hidden.get(el);
    if (field && !secretRules.types.includes(el.type)) return "";
    const token = (el.getAttribute("autocomplete") || "").toLowerCase().split(/\s+/).find(one => Object.hasOwn(secretRules.autocomplete, one));
    const kind = el.type === "password" ? "password" : token ? secretRules.autocomplete[token]
      : kindOfName(el.getAttribute("name")) || kindOfName(el.getAttribute("id"));
    if (kind) hidden.set(el, kind);
    return kind;
  }

  const isSecret = el => secretOf(el) !== "";

  const bullets = text => "•".repeat(text.length);

  function refOf(el) {
    let ref = el[REF];
    if (ref === undefined) {
      ref = el[REF] = next++;
      numbered.set(ref, new WeakRef(el));
    }
    return ref;
  }

  // The words that a box holds itself have a ref of their own beside that of the box; both name the same element.
  function wordsRef(el) {
    let ref = el[OWN];
    if (ref === undefined) {
      ref = el[OWN] = next++;
      numbered.set(ref, new WeakRef(el));
    }
    return ref;
  }

  function byRef(ref) {
    const el = numbered.get(ref)?.deref();
    return el && el.isConnected ? el : null;
  }

  // What is said of a ref whose element has gone, or that never was in this document.
  const missing = ref => ({ problem: numbered.has(ref) ? "is no longer in the page" : "is not in this page" });

  // The next refs are at least `from`.
  function countFrom(from) {
    if (from > next) next = from;
  }

  const nextRef = () => next;

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

  function all(root, visit) {
    const walker = document.createTreeWalker(root, 1);
    for (let el = walker.nextNode(); el; el = walker.nextNode()) {
      visit(el);
      if (rootOf(el)) all(rootOf(el), visit);
    }
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

  const VISIBLE = { visibilityProperty: true, checkVisibilityCSS: true };
  const r1 = number => Math.round(number * 10) / 10;

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

  function listen(types, ...targets) {
    targets.forEach((target, index) => {
      if (target?.nodeType === 1) target[LISTENS] = types[index];
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

  return Object.freeze({ REF, LISTENS, SKIP, isSecret, secretOf, bullets, parentNodeOf, parentOf, shows, tagNameOf, rootOf, squash, cut, digest, refOf,
    wordsRef, byRef, missing, countFrom, nextRef, children, all, xpath, VISIBLE, r1, around, room, listen, hosts,
    openRoot });
})();
