// Scrolling, turning the wheel, and selecting words.
const gestures = (() => {
  const { SKIP, parentOf, squash, cut, byRef, children, isSecret } = elements;
  const { TEXT_INPUT, VALUE_INPUT } = traits;
  const { hit, within, unseen, boxOf, describe, reaches, inRoom, bringPoint, points } = reaching;

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
    if (nth > places.length) return { ...said, problem: `has ${named} ${places.length} times, not ${nth} times` };
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

  const field = () => { const el = document.activeElement; return el && (el.tagName === "TEXTAREA" || el.tagName === "INPUT" && TEXT_INPUT.has(el.type)) && el.selectionStart !== null ? el : null; };

  // What is selected now, as a text to compare; empty for nothing.
  function selection() {
    const el = field();
    if (el) return el.selectionStart < el.selectionEnd ? `${el.selectionStart} ${el.selectionEnd} ${el.value}` : "";
    const now = getSelection();
    if (!now.rangeCount || now.isCollapsed || !now.toString().trim()) return "";
    const range = now.getRangeAt(0);
    return `${range.startOffset} ${range.endOffset} ${now}`;
  }

  // The words that are selected now as `findWords` finds them: their element, and which of several like them they are.
  function selectedWords() {
    const el = field();
    if (el) {
      const text = el.value.slice(el.selectionStart, el.selectionEnd);
      const places = occurrences(el.value, text);
      return text && !isSecret(el) ? { el, text, nth: places.length > 1 ? places.indexOf(el.selectionStart) + 1 : 0 } : null;
    }
    if (!selection()) return null;
    const range = getSelection().getRangeAt(0);
    let node = range.commonAncestorContainer;
    while (node && node.nodeType !== 1) node = node.parentNode;
    if (!node) return null;
    const { text, spots } = standing(node);
    const at = spots.map((spot, index) => spot && range.comparePoint(spot[0], spot[1]) === 0
      && !(spot[0] === range.endContainer && spot[1] >= range.endOffset) ? index : -1).filter(index => index >= 0);
    if (!at.length) return null;
    let from = at[0], to = at[at.length - 1] + 1;
    while (from < to && text[from] === " ") from++;
    while (to > from && text[to - 1] === " ") to--;
    const words = text.slice(from, to);
    if (!words) return null;
    if (words === text.trim()) return { el: node, text: "", nth: 0 };
    const places = occurrences(text, words);
    return { el: node, text: words, nth: places.length > 1 ? places.indexOf(from) + 1 : 0 };
  }

  const same = (selection, range) => selection.rangeCount > 0 && selection.toString() !== ""
    && selection.getRangeAt(0).compareBoundaryPoints(Range.START_TO_START, range) === 0
    && selection.getRangeAt(0).compareBoundaryPoints(Range.END_TO_END, range) === 0;

  return Object.freeze({ scrollBy, hear, wasHeard, wheelPlace, findWords, endOfWords, caret, wordsSelected, selection, selectedWords });
})();
