// Tells what a person does in a document: clicks, typing, choosing, dragging, scrolling, selecting, keys. Lives in our
// world; only trusted events count. Each human action is reported once, as the action that would do it again; what only
// prepares another, or changes nothing, is left out.
(() => {
  if (globalThis.__backstepDemonstration) return;

  const walker = globalThis.__backstep;
  const REST = 200;          // milliseconds without a key after which the page is worth a look
  const DWELL = 60;          // milliseconds on an element that no reading shows yet, after which it is too
  const EFFECT = 150;        // milliseconds that a page has to answer a click on nothing in particular
  const BURST = 300;         // milliseconds without a turn of the wheel after which the scrolling is over
  const FAR = 6;             // pixels that the mouse has to move while it is down for a drag
  const NOTCH = 120;         // pixels that a wheel tells of one notch
  const met = new WeakMap(); // element -> the last reading without it
  let resting = 0, dwelling = 0;
  let on = false;

  // Names an element as it is now: it may be gone when it is told.
  const named = el => ({ ref: walker.known(el), label: walker.label(el), xpath: walker.xpath(el) });

  function report(kind, about, more = {}) {
    globalThis.__backstepReported(JSON.stringify({ kind, ...about, ...more }));
  }

  function tell(kind, el, more = {}) { if (el) report(kind, named(el), more); }

  const first = event => event.composedPath().find(one => one.nodeType === 1);
  const isChoice = el => el?.tagName === "INPUT" && ["checkbox", "radio"].includes(el.type);
  const NO_TEXT = ["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"];
  const isText = el => el?.tagName === "TEXTAREA" || (el?.tagName === "INPUT" && !NO_TEXT.includes(el.type));
  const isFile = el => el?.tagName === "INPUT" && el.type === "file";
  const isDrawn = el => /^(canvas|svg|img|object|embed)$/i.test(el.tagName);
  const editable = el => el?.closest?.("[contenteditable=''], [contenteditable=true]") ?? null;
  const valueOf = el => "value" in el ? el.value : el.textContent;
  const outside = el => el === document.body || el === document.documentElement;

  function active() {
    let el = document.activeElement;
    while (el?.shadowRoot?.activeElement) el = el.shadowRoot.activeElement;
    return el;
  }

  // One human action of which it is not known yet what it is, or whether it changes anything. What comes next decides it.
  let pending = null;

  function hold(decide, milliseconds) {
    settlePending();
    pending = { decide, timer: setTimeout(settlePending, milliseconds) };
  }

  function settlePending() {
    const one = pending;
    pending = null;
    clearTimeout(one?.timer);
    one?.decide();
  }

  // Tells all that was held back, in the order in which it was done.
  function flush() {
    while (pending) settlePending();
    endScrolling();
    for (const el of [...dirty.keys()]) typed(el);
  }

  // Typing. A field is told as it is left; one whose value is set by steps, such as a slider, once it stays.

  const dirty = new Map();   // fields that were typed into and not told yet -> what they were named then
  const told = new WeakMap();
  const STEPPED = ["range", "color", "number"];
  let stepping = 0;

  function typed(el, text = valueOf(el)) {
    const about = dirty.get(el);
    if (!about || !dirty.delete(el) || told.get(el) === text) return;   // Enter tells it before the change does.
    told.set(el, text);
    report("type", about, walker.isSecret(el)
      ? { text: walker.bullets(text), secret: text } : { text });
  }

  // What a script has put into a field since may be typed over with the same words.
  function beforeInput(event) {
    const el = isText(first(event)) ? first(event) : editable(first(event));
    if (el && told.has(el) && told.get(el) !== valueOf(el)) told.delete(el);
  }

  function onInput(event) {
    const el = isText(first(event)) ? first(event) : editable(first(event));
    if (!el) return;
    if (pending && !dirty.has(el)) settlePending();
    if (!dirty.has(el)) dirty.set(el, named(el));
    if (el.tagName === "INPUT" && STEPPED.includes(el.type)) {
      clearTimeout(stepping);
      stepping = setTimeout(() => typed(el), 3 * REST);
    }
    clearTimeout(resting);
    resting = setTimeout(() => tell("look", el, { typing: true }), REST);
  }

  function onLeft(event) {
    const el = isText(first(event)) ? first(event) : editable(first(event));
    if (el) typed(el);
  }

  // Clicks

  // What is used by a click: of a box that listens for what is in it, the part of it that a reading shows.
  function used(el) {
    const nearest = walker.nearest(el);
    if (nearest === el || !listensForParts(nearest)) return nearest;
    for (let one = el; one && one !== nearest; one = one.parentElement) if (walker.usable(one)) return one;
    for (let one = el; one && one !== nearest; one = one.parentElement) if (walker.shown(one)) return one;
    return el.childElementCount ? nearest : el;
  }

  const listensForParts = el => /^(UL|OL|TABLE|TBODY|TR|NAV|MENU)$/.test(el.tagName)
    || el.childElementCount > 1 && !el.matches("a, button, label, summary, [role], [onclick], [tabindex]");

  // Enter in a field of a form clicks its button: that is told as the key.
  const bySending = event => event.detail === 0 && active() !== first(event) && isText(active());

  const fraction = (value, from, size) => Math.min(Math.max(size ? (value - from) / size : 0, 0), 1).toFixed(4);
  const placeIn = (x, y, box) => `${fraction(x, box.left, box.width)},${fraction(y, box.top, box.height)}`;

  // Where it matters where something was clicked: in a drawing or a picture, and in a box that holds others.
  function placeOf(event, el) {
    const keyed = event.detail === 0 && event.type === "click";
    if (keyed || !isDrawn(el) && !outside(el) && (walker.used(el) ? !listensForParts(el) : !el.childElementCount)) return {};
    return { at: placeIn(event.clientX, event.clientY, el.getBoundingClientRect()) };
  }

  function heldAt(event) {
    return [event.ctrlKey && "Control", event.shiftKey && "Shift", event.altKey && "Alt", event.metaKey && "Meta"].filter(Boolean).join("+");
  }

  let down = null;           // what the mouse went down on last, as it was then

  function onDown(event) {
    beforeChoosing(event);
    const el = first(event), last = down;
    acted();
    down = null;
    if (!el || event.button !== 0) return;
    if (beginBar(event, el)) return;
    const again = pending?.selects && Math.hypot(event.clientX - pending.x, event.clientY - pending.y) < FAR;
    if (!again) { settlePending(); endScrolling(); }
    const target = used(el);
    down = { el, target, about: named(target), place: placeOf(event, target), box: target.getBoundingClientRect(),
      x: event.clientX, y: event.clientY, words: again && last ? last.words : walker.selection(), focus: active(), url: location.href,
      nodes: changedSince(event), clicked: false, dragged: false };
  }

  // Notes which nodes the page changes from now on; returns a function that tells them.
  function changedSince(event) {
    const nodes = [];
    const note = records => { for (const one of records) if (nodes.length < 500) nodes.push(one.target, ...one.addedNodes); };
    const observer = new MutationObserver(note);
    const tree = { subtree: true, childList: true, attributes: true, characterData: true };
    for (const root of event.composedPath()) if (root.nodeType === 9 || root.nodeType === 11) observer.observe(root, tree);
    setTimeout(() => { note(observer.takeRecords()); observer.disconnect(); }, 60000);
    return end => {
      note(observer.takeRecords());
      if (end) observer.disconnect();
      return nodes;
    };
  }

  const changes = one => one.nodes().length > 0 || active() !== one.focus || location.href !== one.url;

  // Whether something has come up beside a field that was clicked, such as a calendar or a list.
  function opened(one) {
    const field = one.el.getBoundingClientRect();
    return one.nodes().some(node => {
      if (node.nodeType !== 1 || !node.isConnected || node.contains(one.el)) return false;
      const box = node.getBoundingClientRect();
      return box.width * box.height > field.width * field.height && walker.visible(node);
    });
  }

  function onUp(event) {
    const one = down;
    if (!one || event.button !== 0) return;
    if (Math.hypot(event.clientX - one.x, event.clientY - one.y) > FAR) moved(one, event);
    // A page that takes the element away as the mouse goes down gets no click of it.
    else setTimeout(() => { if (!one.clicked && !one.el.isConnected) clicked(one, event); });
  }

  function onClick(event) {
    if (bySending(event)) return;
    const one = event.detail && down ? down : null;
    if (one) {
      one.clicked = true;
      if (!one.dragged) clicked(one, event);
      return;
    }
    const el = first(event);
    if (!el || isText(el) || editable(el) || isChoice(el) || el.closest("select, option")) return;
    if (byLabel(el)) return;
    flush();
    tell("click", used(el), { keys: heldAt(event) });
  }

  // A click on the words of a box or a field is told by what it does there.
  function byLabel(el) {
    const label = el.closest("label");
    if (!label?.control || label.control === el || walker.nearest(el).matches("a, button")) return false;
    return isChoice(label.control) || isText(label.control);
  }

  function clicked(one, event) {
    const { el, target } = one;
    if (isChoice(el) || isFile(el) || el.closest("select, option") || byLabel(el)) return;   // Told as it is chosen.
    const again = event.detail === 2;
    const say = kind => { one.nodes(true); flush(); tellHover(target); report(kind, one.about, { ...one.place, ...kind === "click" && { keys: heldAt(event), once: event.detail === 1 } }); };
    if (event.detail > 2 && selects(one)) return;
    if (isText(el) || editable(el)) {
      if (event.detail > 1) selects(one);
      else hold(() => { if (opened(one)) say("click"); }, EFFECT);
    } else if (isDrawn(target) || walker.used(target) || walker.usable(target) || !one.el.isConnected) {
      // The double click is told in place of its second click.
      if (again) doubled = { one, say, used: true, timer: setTimeout(() => say("click")) };
      else say("click");
    } else if (again) doubled = { one, say, used: false, timer: 0 };
    else hold(() => { if (changes(one)) say("click"); }, EFFECT);
  }

  let doubled = null;        // the second click of two, until the double click comes

  function onDoubled() {
    if (!doubled) return;
    const { one, say, used, timer } = doubled;
    doubled = null;
    clearTimeout(timer);
    if (used) return say("double_click");
    hold(() => { if (changes(one)) say("double_click"); else selects(one); }, EFFECT);
    Object.assign(pending, { selects: true, x: one.x, y: one.y });
  }

  // A link that is opened in a tab of its own with the wheel of the mouse: by the left button, that takes a key.
  function onOther(event) {
    const link = event.button === 1 && !event.defaultPrevented && first(event)?.closest("a[href]");
    if (link) { flush(); tellHover(link); tell("click", link, { keys: "Control" }); }
  }

  function onMenu(event) {
    const el = first(event);
    if (!el) return;
    flush();
    const about = named(used(el)), place = placeOf(event, used(el)), nodes = changedSince(event);
    // One that only opens the browser's own menu does nothing in the page.
    const decide = () => { if (nodes(true).length) report("right_click", about, place); };
    setTimeout(() => {
      if (!event.defaultPrevented) return hold(decide, EFFECT);
      nodes(true);
      report("right_click", about, place);
    });
  }

  // Selecting and dragging

  // Holds back what the mouse has selected, for a third click may select more; returns whether it has selected anything.
  function selects(one) {
    const now = walker.selection();
    if (!now || now === one.words) return false;
    if (pending?.selects) { clearTimeout(pending.timer); pending = null; }
    hold(() => {
      const said = walker.selectedWords();
      if (said) { flush(); tell("select_text", said.el, { text: said.text, nth: said.nth }); }
    }, 2 * BURST);
    Object.assign(pending, { selects: true, x: one.x, y: one.y });
    return true;
  }

  // The mouse went up elsewhere than it went down.
  function moved(one, event) {
    const { el, target, box } = one;
    if (el.closest("select, option") || el.tagName === "INPUT" && el.type === "range") return;   // Told by its value.
    if (selects(one)) { one.dragged = true; return; }
    if (isText(el) || editable(el)) return;
    const same = target.contains(first(event));
    if (same && target.matches("a, button, input, summary, label")) return;
    const followed = one.nodes().length > 0;
    if (!followed && !isDrawn(target) && !walker.drags(el)) return;
    one.dragged = true;
    one.nodes(true);
    const to = under(one, event.clientX, event.clientY);
    flush();
    const toBox = to.getBoundingClientRect();
    report("drag", one.about, { ...placed("at", one.x, one.y, box, to === target),
      to: named(to), ...placed("to_at", event.clientX, event.clientY, toBox, to === target) });
  }

  // What lies under something that was dragged: itself, where it has stayed and the mouse has not left it.
  function under(one, x, y) {
    const { target, box } = one;
    const now = target.getBoundingClientRect();
    const stayed = now.left === box.left && now.top === box.top;
    const inside = x >= box.left && x < box.right && y >= box.top && y < box.bottom;
    if (stayed && inside) return target;
    const root = target.getRootNode();
    const there = (root.elementsFromPoint ? root : document).elementsFromPoint(x, y).filter(el => !target.contains(el));
    return shownAround(there[0] ?? document.documentElement);
  }

  // The nearest element that a reading shows, or itself.
  function shownAround(el) {
    for (let one = el; one && !outside(one); one = one.parentElement) if (walker.shown(one)) return one;
    return el;
  }

  // The place in a box, unless it is about the middle of a small one.
  function placed(name, x, y, box, always) {
    const middle = (value, from, size) => size < 200 && Math.abs((value - from) / size - 0.5) < 0.2;
    if (!always && middle(x, box.left, box.width) && middle(y, box.top, box.height)) return {};
    return { [name]: placeIn(x, y, box) };
  }

  let lifted = null;         // what the browser drags, and what the pointer was over last beside it

  function onLifted(event) {
    const el = event.target.nodeType === 1 ? first(event) : null;
    if (down) { down.dragged = true; down.nodes(true); }
    lifted = el && { el, about: named(el), over: null };
  }

  function onOver(event) {
    const el = first(event);
    if (!lifted || !el || lifted.el.contains(el)) return;
    const zone = shownAround(el);
    const place = placed("to_at", event.clientX, event.clientY, zone.getBoundingClientRect(), false);
    lifted.over = { to: named(zone), ...place };
  }

  function onDropped(event) {
    onOver(event);
    const one = lifted;
    lifted = null;
    if (!one && event.dataTransfer?.types.length) tell("lost", first(event), { text: "It was dragged in from outside of the page. Choose files with a button of the page." });
    if (!one?.over) return;
    flush();
    report("drag", one.about, one.over);
  }

  // Scrolling

  let scrolling = null;      // boxes that may scroll under the pointer, with where they stood, and how far the wheel turned

  const standing = node => ({ node, left: node.scrollLeft, top: node.scrollTop });
  const page = () => document.scrollingElement || document.documentElement;
  const scrolls = node => node.scrollHeight > node.clientHeight + 1 || node.scrollWidth > node.clientWidth + 1;

  function beginScrolling(event, rest) {
    if (!scrolling) {
      flush();
      const boxes = event.composedPath().filter(node => node.nodeType === 1 && !outside(node) && scrolls(node));
      scrolling = { el: first(event), boxes: [...boxes, page()].map(standing), down: 0, right: 0, taken: false, timer: 0, rest };
    }
    clearTimeout(scrolling.timer);
    scrolling.timer = setTimeout(endScrolling, scrolling.rest);
  }

  function onWheel(event) {
    if (event.ctrlKey) return;                     // The browser's own zoom.
    acted();
    beginScrolling(event, BURST);
    const one = scrolling, unit = event.deltaMode === 1 ? 40 : event.deltaMode === 2 ? innerHeight : 1;
    one.down += event.deltaY * unit;
    one.right += event.deltaX * unit;
    setTimeout(() => { one.taken ||= event.defaultPrevented; });
  }

  // The mouse goes down on a scroll bar: the page hears no more of it than that it scrolls.
  function beginBar(event, el) {
    const box = el.getBoundingClientRect(), root = outside(el);
    const across = event.clientX - (root ? 0 : box.left + el.clientLeft), along = event.clientY - (root ? 0 : box.top + el.clientTop);
    const node = root ? document.documentElement : el;
    if (across < node.clientWidth && along < node.clientHeight || !scrolls(root ? page() : el)) return false;
    if (!root && (across > el.offsetWidth || along > el.offsetHeight)) return false;
    beginScrolling(event, 5 * BURST);
    return true;
  }

  function onScrolled() {
    if (!scrolling) return;
    clearTimeout(scrolling.timer);
    scrolling.timer = setTimeout(endScrolling, scrolling.rest);
  }

  // Tells how far it went as scrolls by most of what is shown, as the action does it, or by the notches that the page took.
  function endScrolling() {
    const one = scrolling;
    scrolling = null;
    if (!one) return;
    clearTimeout(one.timer);
    const times = (distance, piece) => Math.max(1, Math.min(10, Math.round(Math.abs(distance) / piece)));
    const say = (about, direction, count) => { for (let i = 0; i < count; i++) report("scroll", about, { direction }); };
    for (const { node, left, top } of one.boxes) {
      const down = node.scrollTop - top, right = node.scrollLeft - left, whole = node === page();
      if (Math.abs(down) < 1 && Math.abs(right) < 1) continue;
      const upright = Math.abs(down) >= Math.abs(right);
      const shown = upright ? (whole ? innerHeight : node.clientHeight) : (whole ? innerWidth : node.clientWidth);
      say(!whole ? named(node) : parent === self ? {} : named(outside(one.el) ? page() : shownAround(one.el)), upright ? (down > 0 ? "down" : "up") : right > 0 ? "right" : "left", times(upright ? down : right, 0.8 * shown));
      return;
    }
    if (!one.taken) return;
    const upright = Math.abs(one.down) >= Math.abs(one.right);
    say(named(used(one.el)), upright ? (one.down > 0 ? "down" : "up") : one.right > 0 ? "right" : "left", times(upright ? one.down : one.right, NOTCH));
  }

  // Choosing

  let chosenFiles = [];
  const chosen = new WeakMap();   // select of several -> its options that were chosen when it was last looked at
  const isSeveral = el => el?.tagName === "SELECT" && el.multiple;

  function beforeChoosing(event) {
    const el = first(event)?.closest?.("select");
    if (isSeveral(el) && !chosen.has(el)) chosen.set(el, new Set(el.selectedOptions));
  }

  function choseSeveral(el) {
    const before = chosen.get(el) ?? new Set([...el.options].filter(one => one.defaultSelected));
    const now = new Set(el.selectedOptions);
    chosen.set(el, now);
    const said = (one, selected) => tell("select", el, { text: one.label || one.value, selected });
    for (const one of before) if (!now.has(one)) said(one, false);
    for (const one of now) if (!before.has(one)) said(one, true);
  }

  function onChange(event) {
    const el = first(event);
    if (isText(el)) {
      // A date is whole once the field is left: while it is typed, each of its years is one.
      if (el.tagName === "TEXTAREA" || !walker.takesValue(el) && !STEPPED.includes(el.type)) typed(el);
      return;   // What a script put there by itself was not typed.
    }
    flush();
    if (isChoice(el)) tell("check", el, { checked: el.checked });
    else if (isSeveral(el)) choseSeveral(el);
    else if (isFile(el)) {
      chosenFiles = [...el.files];
      const text = chosenFiles.map(one => one.name).join("\n");
      if (text) tell("upload", el, { text, files: chosenFiles.length, folder: el.webkitdirectory });
    }
    else if (el?.tagName === "SELECT") {
      const chosen = el.selectedOptions[0];
      if (chosen) tell("select", el, { text: chosen.label || chosen.value });
    }
  }

  // What comes up while the pointer is over something, without a click or a key: it is there only after a hover.

  const CONTROLS = "a[href],button,input,select,textarea,label,summary,li,td,[role],[onclick],[tabindex],[class*=item],[class*=option]";
  const MOST = 1000;                  // elements of a document up to which all are looked at, and controls that are looked at in a larger one
  const DEEPEST = 5;                  // menus in menus
  const GLANCE = 100;                 // milliseconds between two looks while the pointer moves
  const NEAR = 60;                    // pixels between what is hovered and what comes up by it
  const seen = new WeakSet();         // what was there at the last look
  const cameUp = new WeakMap();       // element -> what was hovered as it came up
  let over = { el: null, quiet: false };   // what the pointer is over, and whether nothing was done since it came there
  let looked = 0;
  let hovered = [];                   // what hovers were told of last, until the pointer leaves it

  // Notes which controls have come up since the last look; by a style, they may have come with the pointer on `entering`.
  function glance(entering = null) {
    looked = performance.now();
    const fresh = [], first = !over.el;
    for (const root of new Set([document, entering?.getRootNode(), over.el?.getRootNode()])) {
      const whole = root?.querySelectorAll("*") ?? [];
      for (const el of whole.length <= MOST ? whole : [...root.querySelectorAll(CONTROLS)].slice(0, MOST)) {
        if (!walker.visible(el)) { seen.delete(el); cameUp.delete(el); } else if (!seen.has(el)) { seen.add(el); fresh.push(el); }
      }
    }
    if (first || !over.quiet || !fresh.length) return;
    const chain = entering && !fresh.some(el => el.contains(entering)) ? pathOf(entering).filter(one => !one.contains(over.el)) : [];
    const box = chain.find(one => fresh.some(el => one !== el && one.contains(el))) ?? hoveredBox(over.el);
    if (box && near(box, fresh)) for (const el of fresh) if (el !== box && !el.contains(box)) cameUp.set(el, box);
  }

  // Whether what came up lies at a box, as a menu does, and not elsewhere, as what has been loaded meanwhile.
  function near(box, fresh) {
    const from = box.getBoundingClientRect(), all = fresh.map(el => el.getBoundingClientRect());
    const gap = (low, high, lowest, highest) => Math.max(0, low - highest, lowest - high);
    const edge = (name, pick) => pick(...all.map(one => one[name]));
    return gap(from.left, from.right, edge("left", Math.min), edge("right", Math.max)) < NEAR
      && gap(from.top, from.bottom, edge("top", Math.min), edge("bottom", Math.max)) < NEAR;
  }

  const pathOf = el => { const path = []; for (let one = el; one && !outside(one); one = one.parentElement ?? one.getRootNode().host) path.push(one); return path; };

  // The box that the page is told of as the pointer is over something in it; where one listens for all, what is under the pointer.
  function hoveredBox(el) {
    const box = pathOf(el).find(one => walker.toldOver(one, one.tagName));
    const size = box?.getBoundingClientRect();
    if (box && size.width * size.height < innerWidth * innerHeight / 2) return box;
    return box || [document, document.documentElement, document.body].some(one => walker.toldOver(one, "")) ? shownAround(used(el)) : null;
  }

  function onEntered(event) {
    const el = first(event);
    if (!el || el === over.el) return;
    hovered = hovered.filter(one => one.contains(el));
    if (performance.now() - looked > GLANCE / 4) glance(el);   // Else nothing can have come up by what it passed over.
    over = { el, quiet: true };
  }

  function onMoved() { if (performance.now() - looked > GLANCE) glance(); }

  // What a click, a key or a scroll brings up is no matter of the pointer.
  function acted() { if (over.quiet) glance(); over.quiet = false; }

  // Tells the hovers without which this would not have been there to be clicked, the outermost first.
  function tellHover(el) {
    const chain = [];
    for (let one = el; one && chain.length < DEEPEST;) {
      const control = pathOf(one).find(node => cameUp.has(node));
      const holder = walker.holderNow(one) ?? (control && cameUp.get(control));
      if (!holder?.isConnected || holder === el || chain.includes(holder)) break;
      chain.unshift(holder);
      one = holder;
    }
    for (const one of chain) if (!hovered.includes(one)) tell("hover", one);
    if (chain.length) hovered = chain;
  }

  // What came up since the page was read, such as a list under a field or a menu, is read before it is clicked.
  function onMet(event) {
    if (event.type === "pointerover") onEntered(event);
    clearTimeout(dwelling);
    const el = walker.nearest(first(event) ?? document.body);
    if (el === document.body || walker.shown(el) || met.get(el) === walker.lastReading()) return;
    dwelling = setTimeout(() => {
      if (walker.shown(el)) return;
      met.set(el, walker.lastReading());
      tell("look", el, { typing: dirty.size > 0 });
    }, DWELL);
  }

  // Keys

  const ALONE = ["Escape", "Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", "Delete", "Backspace", " "];
  // Chords that edit a text, or move in it: that shows in what the field holds.
  const EDITS = ["c", "v", "x", "z", "y", "arrowup", "arrowdown", "arrowleft", "arrowright", "home", "end", "delete", "backspace"];

  function onKey(event) {
    const el = first(event);
    acted();
    beforeChoosing(event);
    if (["Control", "Shift", "Alt", "AltGraph", "Meta", "Tab", "Dead", "Process"].includes(event.key) || event.isComposing) return;
    const field = isText(el) ? el : editable(el);
    const chord = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
    if (field && chord) {
      if (EDITS.includes(event.key.toLowerCase())) return;
    } else if (field) {
      // Editing shows in what the field holds; Enter does more, but in a text of several lines.
      if (event.key === "Enter" && el.tagName !== "INPUT") return afterKey(event, field);
      if (event.key !== "Enter" && event.key !== "Escape") return;
    } else if (!chord) {
      // They press, move within or choose: that is told as a click or a change.
      if (event.key === "Enter" && el?.matches("a, button, select, summary, input")) return;
      if (event.key === " " && el?.matches("button, select, summary, input")) return;
      if (/^(Arrow|Home|End|Page)/.test(event.key) && (isChoice(el) || el?.matches("select, input"))) return;
      if (!ALONE.includes(event.key)) return event.key.length === 1 && !el?.matches("select") ? afterKey(event) : undefined;
    }
    flush();
    pressed(event);
  }

  function pressed(event) {
    const chord = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey && event.key.length > 1;
    const parts = chord ? [event.ctrlKey && "Control", event.altKey && "Alt", event.metaKey && "Meta", event.shiftKey && "Shift"] : [];
    tell("press", first(event), { keys: [...parts.filter(Boolean), event.key === " " ? "Space" : event.key].join("+") });
  }

  // A key that does something only where the page takes it: that is known once the page has had it.
  function afterKey(event, field = null) {
    const text = field && valueOf(field), el = first(event);
    setTimeout(() => {
      if (!event.defaultPrevented) return;
      if (field) typed(field, text);
      flush();
      report("press", named(el), { keys: event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key });
    });
  }

  const listeners = { click: onClick, beforeinput: beforeInput, input: onInput, change: onChange, keydown: onKey,
    pointerover: onMet, pointermove: onMoved, focusin: onMet, pointerdown: onDown, pointerup: onUp, contextmenu: onMenu, auxclick: onOther, dblclick: onDoubled,
    dragstart: onLifted, dragover: onOver, drop: onDropped, wheel: onWheel, scroll: onScrolled, focusout: onLeft,
    beforeunload: flush };

  function set(wanted) {
    if (wanted === on) return;
    on = wanted;
    for (const [name, listener] of Object.entries(listeners)) {
      const trusted = listener.trusted ??= event => { if (event.isTrusted) listener(event); };
      if (on) addEventListener(name, trusted, { capture: true, passive: name !== "wheel" });   // Else the page would scroll before it is told.
      else removeEventListener(name, trusted, { capture: true });
    }
    if (!on) { clearTimeout(resting); clearTimeout(dwelling); }
  }

  globalThis.__backstepDemonstration = Object.freeze({ set, flush, chosenFile: at => chosenFiles[at] });
})();
