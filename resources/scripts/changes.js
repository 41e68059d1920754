// Tells whether a document is still as it was last read, and waits until it rests. What changes in its tree is heard of
// as it happens; what changes without a trace there (values, scrolling, the focus, pictures that arrive) is compared
// with what was read. Style and layout are left to the protocol, which counts them. Unsure means changed.
const changes = (() => {
  const TREE = { subtree: true, childList: true, attributes: true, characterData: true };
  const PAINTED = new Set(["css", "img", "image", "input", "video", "audio", "embed", "object"]);
  const RESTLESS = new Set(["CANVAS", "EMBED", "OBJECT"]);
  let changes = 0;
  let armed = false;
  let readings = 0;
  let roots = [document];  // what is listened to: the document and the shadow roots of the last reading
  let seen = null;         // what the last reading saw

  // A page that changes all the time costs nothing: after its first change nobody listens until the next reading.
  const changed = () => { changes++; observer.disconnect(); armed = false; };
  const observer = new MutationObserver(changed);
  const pictures = entries => { if (entries.some(one => PAINTED.has(one.initiatorType))) changes++; };
  const loads = new PerformanceObserver(list => pictures(list.getEntries()));
  loads.observe({ type: "resource" });

  // Boxes with nothing but words in them: others are asked where they stand.
  const scrolled = () => { changes++; };
  let heard = null;        // the root element of the document whose scrolling is listened to
  const listen = () => document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  listen();

  // How often the tree was found changed; a change is counted once until the next call of `arm`.
  function count() {
    if (observer.takeRecords().length) changed();
    pictures(loads.takeRecords());
    return changes;
  }

  function arm() {
    const now = count();
    if (!armed) for (const root of roots) observer.observe(root, TREE);
    armed = true;
    return now;
  }

  // What a field holds that no attribute tells.
  function held(el) {
    if (el.tagName === "SELECT") {
      return el.multiple ? Array.from(el.selectedOptions, one => one.index).join() : el.selectedIndex;
    }
    return el.type === "checkbox" || el.type === "radio" ? (el.indeterminate ? 2 : +el.checked) : el.value;
  }

  function active() {
    let el = document.activeElement;
    while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement;
    return el;
  }

  const moving = () => document.getAnimations().some(one => one.playState === "running");
  const place = () => `${scrollX} ${scrollY} ${innerWidth} ${innerHeight} ${location.href}`;

  // Begins a reading: the walker notes what it meets on its way.
  function begin() {
    count();
    observer.disconnect();
    armed = false;
    roots = [document];
    seen = null;
    // A document that is written anew loses its listeners with its root. Not each time: the protocol counts them.
    if (heard && heard !== document.documentElement) listen();
    heard = document.documentElement;
    const met = { fields: [], scrollers: [], restless: document.readyState !== "complete" };
    return {
      root: root => { roots.push(root); },
      field: el => { met.fields.push(el, held(el)); },
      scroller: el => { met.scrollers.push(el, el.scrollLeft, el.scrollTop); },
      drawn: (el, tag) => {
        if (RESTLESS.has(tag) || tag === "IMG" && !el.complete || tag === "VIDEO" && !el.paused) met.restless = true;
      },
      // Ends it; returns the number of the reading.
      end: () => {
        seen = { ...met, number: ++readings, changes: arm(), active: active(), place: place() };
        return seen.number;
      },
    };
  }

  // Whether nothing has changed since that reading, as far as the document itself can tell.
  function unchanged(number) {
    if (!seen || seen.number !== number || seen.restless || count() !== seen.changes) return false;
    // Asking for the place brings style and layout up to date, so that the protocol has counted what was pending.
    if (place() !== seen.place || active() !== seen.active || moving()) return false;
    const { fields, scrollers } = seen;
    for (let i = 0; i < fields.length; i += 2) if (held(fields[i]) !== fields[i + 1]) return false;
    for (let i = 0; i < scrollers.length; i += 3) {
      if (scrollers[i].scrollLeft !== scrollers[i + 1] || scrollers[i].scrollTop !== scrollers[i + 2]) return false;
    }
    return true;
  }

  // Whether the tree stays as it is until the next frame.
  function rests() {
    const now = arm();
    return new Promise(done => requestAnimationFrame(() => done(count() === now)));
  }

  // Resolves when nothing has changed for two painted frames, or at the bound.
  function settle(most, quietFrames) {
    return new Promise(done => {
      let changed = false, quiet = 0, over = false;
      const observer = new MutationObserver(() => { changed = true; });
      observer.observe(document, TREE);
      const end = reason => {
        if (over) return;
        over = true;
        observer.disconnect();
        clearTimeout(bound);
        done({ reason });
      };
      const bound = setTimeout(() => end("still changing"), most);
      const frame = () => {
        if (over) return;
        const moving = document.getAnimations().some(a => a.playState === "running"
          && Number.isFinite(a.effect?.getComputedTiming().endTime) && a.effect.getComputedTiming().endTime < 2000);
        quiet = changed || moving ? 0 : quiet + 1;
        changed = false;
        if (quiet < quietFrames || document.readyState === "loading") requestAnimationFrame(frame);
        // On a busy machine frames are painted before the page gets to what a server has answered.
        else requestIdleCallback(idle, { timeout: 100 });
      };
      const idle = () => { if (changed) frame(); else end("quiet"); };
      requestAnimationFrame(frame);
    });
  }

  function waitForChange(most) {
    return new Promise(done => {
      const end = reason => { observer.disconnect(); clearTimeout(bound); done({ reason }); };
      const observer = new MutationObserver(() => end("changed"));
      observer.observe(document, TREE);
      const bound = setTimeout(() => end("nothing changed"), most);
    });
  }

  return Object.freeze({ count, arm, begin, unchanged, rests, settle, waitForChange });
})();
