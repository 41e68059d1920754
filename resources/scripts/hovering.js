// What a page shows only while the pointer is over something: found by the style rules with :hover, and by listeners.
const hovering = (() => {
  const { shows, parentOf, VISIBLE } = elements;
  const { listens } = traits;

  const REVEALS = ["display", "visibility", "opacity", "height", "max-height", "width", "max-width", "transform", "scale", "clip",
    "clip-path", "left", "right", "top", "bottom", "pointer-events"];
  const MOST_RULES = 200, MOST_FOUND = 300;
  const OF_PARTS = ["mouseover", "pointerover"], OVER = ["mouseenter", "pointerenter", ...OF_PARTS];
  const holders = new WeakMap();   // what is shown over something -> that, as it was hidden last

  // The rules of a root by which the pointer over one element shows another: selectors of both, without :hover.
  let known = [];                  // sheets and how many rules each had -> the rules

  function rulesOf(root) {
    const sheets = [...root.styleSheets ?? [], ...root.adoptedStyleSheets ?? []];
    const counts = sheets.map(sheet => { try { return sheet.disabled ? 0 : sheet.cssRules.length; } catch { return 0; } });   // A foreign one cannot be read.
    const before = known.find(one => one.root.deref() === root);
    if (before && before.sheets.length === sheets.length && sheets.every((sheet, at) => sheet === before.sheets[at] && counts[at] === before.counts[at])) return before.rules;
    const rules = [];
    sheets.forEach((sheet, at) => { if (counts[at]) collect(sheet.cssRules, "", rules); });
    known = [...known.filter(one => one.root.deref() && one.root.deref() !== root), { root: new WeakRef(root), sheets, counts, rules }];
    return rules;
  }

  function collect(list, outer, rules) {
    for (const rule of list) {
      if (rules.length >= MOST_RULES) return;
      if (rule.media && !matchMedia(rule.conditionText ?? rule.media.mediaText).matches) continue;
      if (rule.styleSheet) { try { collect(rule.styleSheet.cssRules, outer, rules); } catch { /* a foreign one */ } continue; }
      const own = rule.selectorText;
      const selector = own === undefined ? outer : outer ? nested(own, outer) : own;
      const style = rule.style;
      if (style && selector.includes(":hover") && REVEALS.some(word => style.getPropertyValue(word))) {
        const hides = style.display === "none" || style.visibility === "hidden" || style.opacity === "0";
        for (const part of parts(selector)) { const found = read(part, hides); if (found) rules.push(found); }
      }
      if (rule.cssRules?.length) collect(rule.cssRules, selector, rules);
    }
  }

  const nested = (own, outer) => own.includes("&") ? own.replaceAll("&", `:is(${outer})`) : `:is(${outer}) ${own}`;

  // The selectors of a list, which are parted by commas outside of brackets.
  function parts(list) {
    const found = [];
    let depth = 0, start = 0;
    for (let at = 0; at <= list.length; at++) {
      const sign = list[at];
      if (sign === "(" || sign === "[") depth++;
      else if (sign === ")" || sign === "]") depth--;
      else if (sign === "\\") at++;
      else if (at === list.length || sign === "," && !depth) { found.push(list.slice(start, at).trim()); start = at + 1; }
    }
    return found;
  }

  // What is over, and what is shown then, of one selector; null where it only changes what the pointer is over. A rule that
  // `hides` something shows it while the pointer is over what it is :not(:hover) of.
  function read(selector, hides) {
    if (hides !== /:not\([^()]*:hover/.test(selector)) return null;
    // Of `:is(:hover, :focus)` the whole is taken for :hover.
    const plain = selector.replaceAll(":not(:hover)", ":hover").replace(/:(?:is|where|has|-webkit-any)\(([^()]*)\)/g, (whole, inner) => /(^|,)\s*:hover\s*(,|$)/.test(inner) ? ":hover" : whole);
    const place = plain.indexOf(":hover");
    let depth = 0, from = place, to = place;
    for (; from > 0; from--) {
      const sign = plain[from - 1];
      if (sign === ")") depth++;
      else if (sign === "," && !depth || sign === "(" && depth-- === 0) break;
    }
    for (depth = 0; to < plain.length && (depth || !/[\s>+~,)]/.test(plain[to])); to++) if (plain[to] === "(") depth++; else if (plain[to] === ")") depth--;
    const still = text => text.replace(/(^|[\s>+~(,]):hover/g, "$1*").replaceAll(":hover", "").trim();
    const over = still(plain.slice(from, to)), shown = still(plain);
    const another = /^\s*[>+~]|^\s+\S/.test(plain.slice(to).replace(/^\)+/, ""));
    return another && valid(over) && valid(shown) ? { over, shown } : null;
  }

  const probe = document.createDocumentFragment();
  const valid = selector => { try { probe.querySelector(selector); return true; } catch { return false; } };

  // The nearest element that is over `el` or before it or before what is over it.
  function holderOf(el, over) {
    const around = parentOf(el)?.closest(over);
    if (around) return around;
    for (let node = el; node; node = parentOf(node)) {
      for (let other = node.previousElementSibling; other; other = other.previousElementSibling) if (other.matches(over)) return other;
    }
    return null;
  }

  const outer = el => el === document.body || el === document.documentElement;

  function hidden(el) {
    if (!shows.call(el, { ...VISIBLE, opacityProperty: true })) return true;
    const box = el.getBoundingClientRect();
    return !(box.width > 1 && box.height > 1) || box.right <= 0 || box.bottom + scrollY <= 0 || getComputedStyle(el).pointerEvents === "none";
  }

  // Adds the elements of a root that show something else while the pointer is over them.
  function find(root, found) {
    for (const { over, shown } of rulesOf(root)) {
      let count = 0;
      for (const el of root.querySelectorAll(shown)) {
        if (++count > MOST_FOUND) break;
        const holder = holderOf(el, over);
        if (!holder || outer(holder) || !hidden(el) || !el.textContent.trim() && !el.querySelector("*")) continue;
        found.add(holder);
        holders.set(el, holder);
      }
    }
  }

  // Whether the pointer over this box is told to the page: by itself, or as a row of a list or table that is told of it.
  function told(el, tag) {
    if (listens(el, OVER)) return !/^(UL|OL|TABLE|TBODY|NAV|MENU)$/.test(tag) || listens(el, ["mouseenter", "pointerenter"]);
    if (tag !== "TR" && tag !== "LI") return false;
    const list = parentOf(el);
    return !!list && (listens(list, OF_PARTS) || tag === "TR" && listens(parentOf(list) ?? list, OF_PARTS));
  }

  // What the pointer has to be over for this to be shown, by the rules; null where it is shown anyway.
  function holderNow(el) {
    for (let node = el; node; node = parentOf(node)) {
      const holder = holders.get(node);
      if (holder) return holder.isConnected && holder !== el ? holder : null;
    }
    return null;
  }

  return Object.freeze({ find, told, holderNow });
})();
