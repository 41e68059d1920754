// The walker: what is asked of a document from outside. It lives in an isolated world of each document as `__backstep`;
// page scripts neither see nor disturb it.
(() => {
  const { isSecret, secretOf, bullets, digest, refOf, byRef, countFrom, nextRef, xpath, listen, hosts, openRoot } = elements;
  const { label } = names;
  const { walk, markedHtml, known, shown, usable, lastReading } = reading;
  const { locate, place, pointed, framePlace, throughFrame, peek, peekBy, putBack, standing } = reaching;
  const { findRole, findXPath, focused, at, nearest, spot } = finding;
  const { ready, assign, written, paste, slid, choose, filtered, fileField, isChecked, differs } = fields;
  const { scrollBy, hear, wasHeard, wheelPlace, findWords, endOfWords, caret, wordsSelected, selection, selectedWords } = gestures;

  // What a demonstration asks of an element: whether it is used by itself, is dragged, is seen, takes its value whole.
  const used = el => traits.uses(el, names.role(el), false).length > 0;
  const drags = el => { for (let one = el; one && one !== document.body; one = one.parentElement) if (traits.uses(one, names.role(one), false).includes("drag")) return true; return false; };
  const visible = el => !reaching.unseen(el);
  const takesValue = el => traits.VALUE_INPUT.has(el.type);

  const tagOf = ref => byRef(ref)?.tagName ?? "";
  // Readies a field for typing, and tells what it hides and where it stands.
  function readied(ref, append) {
    const el = byRef(ref), hides = el ? secretOf(el) : "";
    return hides ? { ...ready(ref, append), hides, place: `${location.origin} ${xpath(el)}` } : ready(ref, append);
  }
  const labelOf = ref => { const el = byRef(ref); return el ? label(el) : ""; };

  const xpathOf = ref => { const el = byRef(ref); return el ? xpath(el) : ""; };

  const calls = { walk, markedHtml, locate, place, pointed, findRole, findXPath, focused, at, spot, ready: readied, assign, written, paste, slid,
    choose, isChecked, differs, scrollBy, refOf, fileField, hear, wasHeard, wheelPlace, findWords, endOfWords, caret, wordsSelected,
    framePlace, throughFrame, peek, peekBy, putBack, standing, openRoot, tagOf, labelOf, xpathOf };

  // Calls a function that may name elements: refs begin at `from`, where other documents have stopped.
  function ask(from, call, ...given) {
    countFrom(from);
    const value = calls[call](...given);
    return { value, next: nextRef() };
  }

  globalThis.__backstep = Object.freeze({ ...calls, ask, hosts, listen, byRef, label, xpath, isSecret, bullets, digest, nearest, known, shown, usable, lastReading,
    used, drags, visible, takesValue, selection, selectedWords,
    filtered, holderNow: hovering.holderNow, toldOver: hovering.told, settle: changes.settle, waitForChange: changes.waitForChange, unchanged: changes.unchanged, rests: changes.rests });
})();
