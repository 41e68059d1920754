// Finds elements by what is known of them: role and name, an XPath, a point of the window, the keyboard focus.
const finding = (() => {
  const { SKIP, parentOf, rootOf, squash, refOf, children, all } = elements;
  const { role, name, withLabels, content, label } = names;
  const { uses } = traits;
  const { ownText } = reading;
  const { hit, boxOf, seen } = reaching;

  // Style sheets write names in capitals, and readers of other tools take them for the name.
  const alikeWords = (one, other) => one.toLowerCase() === other.toLowerCase() || one.toUpperCase() === other.toUpperCase();

  function findRole(wanted, text) {
    const exact = [], loose = [];
    withLabels(() => all(document, el => {
      if (SKIP.has(el.tagName)) return;
      const kind = role(el);
      const shown = kind === "generic" && (wanted === "text" || wanted === "generic");
      if (kind !== wanted && !shown || !seen(el) || /^(INPUT|SELECT|TEXTAREA)$/.test(el.tagName) && faces.carrier(el)) return;
      const said = name(el, kind) || (shown ? content(el) : "");
      if (said === text) exact.push(el);
      else if (alikeWords(said, squash(text))) loose.push(el);
    }));
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

  function spot(el) {
    return { ref: refOf(el), label: label(el), box: boxOf(el) };
  }

  return Object.freeze({ findRole, findXPath, focused, at, nearest, spot });
})();
