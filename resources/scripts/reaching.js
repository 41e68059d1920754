// Where input reaches an element: brings it into view, finds a point of it that nothing covers, also through frames, and
// follows it where the page answers the pointer by moving or replacing it.
const reaching = (() => {
  const { SKIP, parentNodeOf, parentOf, shows, rootOf, refOf, byRef, missing, all, xpath, VISIBLE, r1, around,
    room } = elements;
  const { role, label } = names;

  function hit(x, y) {
    let el = document.elementFromPoint(x, y);
    while (el && rootOf(el)) {
      const inside = rootOf(el).elementFromPoint(x, y);
      if (!inside || inside === el) break;
      el = inside;
    }
    return el;
  }

  function within(found, el) {
    for (let node = found; node; node = parentNodeOf(node) || node.host) if (node === el) return true;
    return false;
  }

  // Brings the element into view and finds a point of it that a click would reach; `at` is a place of it, by fractions.
  function locate(ref, at) {
    const el = byRef(ref);
    if (!el) return missing(ref);
    const said = reach(el, at);
    if (!("problem" in said)) aim(el, said, at);
    return said;
  }

  // What is clicked in place of a control that has no box for it, or the control itself.
  const faceOf = el => el.tagName === "AREA" ? faces.areaOf(el)?.image || el
    : editors.editorOf(el)?.root || faces.faceOf(el) || el;
  const bare = el => getComputedStyle(el).visibility !== "visible" || !el.getClientRects().length && !around(el)
    || !shows.call(el, VISIBLE) && getComputedStyle(el).display !== "contents";
  const unseen = el => bare(faceOf(el));

  // Whether an element is disabled, itself or with a box round it.
  function off(el) {
    if (el.matches(":disabled")) return true;
    for (let node = el; node; node = parentOf(node) || node.getRootNode().host) {
      const said = node.getAttribute("aria-disabled");
      if (said) return said === "true";
    }
    return false;
  }

  const boxOf = el => { const box = el.tagName === "AREA" && faces.areaOf(el)?.box || faceOf(el).getBoundingClientRect(); return { x: r1(box.left), y: r1(box.top), width: r1(box.width), height: r1(box.height) }; };

  function describe(el) {
    return { ref: refOf(el), label: label(el), xpath: xpath(el), tag: el.tagName.toLowerCase(), type: typeof el.type === "string" ? el.type : "" };
  }

  // Whether what lies over a control takes clicks for it: a piece of the list that is drawn round a field, or a
  // transparent field for a file over its button.
  function covers(found, el) {
    if (found.type === "file") return traits.asksForFile(el);
    if (!names.FIELD.has(el.tagName) && role(el) !== "combobox" || el.tagName === "BUTTON") return false;
    return !found.closest("[role=button],[role=link]") && !!faces.widgetOf(el)?.contains(found);
  }

  // Whether a click on what was hit is a click on the element.
  function reaches(found, el) {
    if (within(found, el) || el.tagName === "LABEL" && el.control === found) return true;
    if (found.tagName === "AREA" && el.tagName === "IMG" && el.useMap === "#" + parentOf(found)?.name) return true;
    for (let node = found; node && node.nodeType === 1; node = parentNodeOf(node) || node.host) {
      if (node.tagName === "LABEL") { if (node.control === el) return true; break; }
      if (node.matches("a[href],button,input,select,textarea")) return found.type === "file" && covers(found, el);  // What is in a label may be used itself.
    }
    const editor = editors.editorOf(el);
    return editor ? within(found, editor.root) : faces.belongs(found, el) || covers(found, el);
  }

  // Scrolls the element to the middle of the window unless it is in view already; tells whether it moved.
  function bring(target, inView) {
    const el = faceOf(target);
    const before = el.getBoundingClientRect();
    if (inView(before)) return false;
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const after = el.getBoundingClientRect();
    return before.left !== after.left || before.top !== after.top;
  }

  function reach(el, at) {
    if (at) return placeIn(el, at, false);
    const said = describe(el);
    if (unseen(el)) return { ...said, problem: "is not visible" };
    if (off(el)) return { ...said, problem: "is disabled" };
    said.scrolled = bring(el, box => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth
      && points(el).some(p => { const found = hit(...p); return found && (within(found, el) || faceOf(el) !== el && reaches(found, el)); }));
    said.box = boxOf(el);
    let over = null;
    for (const [x, y] of points(el)) {
      if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue;
      const found = hit(x, y);
      if (found && reaches(found, el)) return { ...said, x, y };
      over = over || found;
    }
    if (over && over.nodeType === 1 && within(el, over) && el.namespaceURI === "http://www.w3.org/2000/svg") {
      const [x, y] = points(el)[0];
      return { ...said, x, y };
    }
    if (over) return { ...said, problem: `is covered by ${label(over)}` };
    return { ...said, problem: "has no point inside the window that could be clicked" };
  }

  // A place to drop on: in view and with a box, but covered or not; what is dragged may lie over it.
  function place(ref, at) {
    const el = byRef(ref);
    if (!el) return missing(ref);
    if (at) return placeIn(el, at, true);
    const said = describe(el);
    if (unseen(el)) return { ...said, problem: "is not visible" };
    const inside = ([x, y]) => { const shown = room(el); return x >= shown.left && y >= shown.top && x < shown.right && y < shown.bottom; };
    said.scrolled = bring(el, () => points(el).some(inside));
    said.box = boxOf(el);
    const free = points(el).filter(inside);
    const best = free.find(([x, y]) => { const found = hit(x, y); return found && reaches(found, el); }) || free[0];
    return best ? { ...said, x: best[0], y: best[1] } : { ...said, problem: "has no place inside the window to drop on" };
  }

  // A place of an element by fractions of its box: brought into view, and free unless it may be covered.
  function placeIn(el, [across, down], covered) {
    const said = describe(el);
    if (unseen(el)) return { ...said, problem: "is not visible" };
    if (!covered && off(el)) return { ...said, problem: "is disabled" };
    const point = () => {
      const box = el.getBoundingClientRect();
      const inside = (part, size) => Math.max(0, Math.min(size * part, size - 1));   // The root's box may be flat.
      return [box.left + inside(across, box.width), box.top + inside(down, box.height)];
    };
    said.scrolled = bringPoint(el, point);
    said.box = boxOf(el);
    const [x, y] = point();
    if (!inRoom(el, [x, y])) return { ...said, problem: "has no such place inside the window" };
    if (covered) return { ...said, x, y };
    const found = hit(x, y);
    const through = found && el.namespaceURI === "http://www.w3.org/2000/svg" && within(el, found);
    if (found && (reaches(found, el) || through)) return { ...said, x, y };
    return { ...said, problem: found ? `is covered by ${label(found)} at that place` : "has nothing to click at that place" };
  }

  function inRoom(el, [x, y]) {
    const shown = room(el);
    return x >= shown.left && y >= shown.top && x < shown.right && y < shown.bottom;
  }

  // Scrolls until a point of the element is in view, also of one that is larger than the window; tells whether it moved.
  function bringPoint(el, point) {
    if (inRoom(el, point())) return false;
    const before = point();
    for (let node = parentOf(el) || el.getRootNode().host; node; node = parentOf(node) || node.getRootNode().host) {
      if (node === document.body || node === document.documentElement || getComputedStyle(node).overflow === "visible") continue;
      const box = node.getBoundingClientRect(), [x, y] = point();
      if (x >= box.left && x < box.right && y >= box.top && y < box.bottom) continue;
      node.scrollBy({ left: x - (box.left + box.right) / 2, top: y - (box.top + box.bottom) / 2, behavior: "instant" });
    }
    const [x, y] = point();
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) {
      window.scrollBy({ left: x < 0 || x >= innerWidth ? x - innerWidth / 2 : 0,
        top: y < 0 || y >= innerHeight ? y - innerHeight / 2 : 0, behavior: "instant" });
    }
    const after = point();
    return before[0] !== after[0] || before[1] !== after[1];
  }

  // What the pointer was last sent to, as it was before the pointer came.
  let aimed = null;

  function aim(el, said, at) {
    aimed = { el, at, x: said.x, y: said.y, kind: role(el), tag: el.tagName, label: said.label, box: el.getBoundingClientRect(),
      changes: changes.arm() };
  }

  // After the pointer came to what `locate` found: whether it is there still, where it is now, or what took its place.
  // Without `patient`, a page that has changed meanwhile is asked for a second look.
  function pointed(patient) {
    const { el, x, y } = aimed;
    if (!patient && changes.count() !== aimed.changes) return { changed: true };
    const found = hit(x, y);
    const there = el.isConnected && !unseen(el);
    if (there && found && reaches(found, el)) return { same: true };
    const again = there ? reach(el, aimed.at) : describe(el);
    if (there && !("problem" in again)) {
      if (again.x === x && again.y === y) return { same: true };
      aim(el, again, aimed.at);
      return again;
    }
    const heir = replacement(found, there);
    if (!heir) return { ...again, problem: again.problem || "goes away" };
    const said = reach(heir, aimed.at);
    if (!("problem" in said)) aim(heir, said, aimed.at);
    return { ...said, replaced: true };
  }

  // The same role and name under the pointer; where the element has gone, also the same role in its place, or the
  // only one of its role and name elsewhere.
  function replacement(found, there) {
    const { el, kind, tag } = aimed;
    const like = node => node !== el && role(node) === kind && label(node) === aimed.label
      && (aimed.label !== kind || node.tagName === tag);
    const inPlace = node => node !== el && !there && role(node) === kind && overlap(aimed.box, node.getBoundingClientRect()) > 0.5;
    for (let node = found; node && node.nodeType === 1 && node !== document.body; node = parentOf(node) || node.getRootNode().host) {
      if (like(node) || inPlace(node)) return node;
    }
    if (there || aimed.label === kind) return null;
    const others = [];
    all(document, node => { if (!SKIP.has(node.tagName) && role(node) === kind && seen(node) && like(node)) others.push(node); });
    return others.length === 1 ? others[0] : null;
  }

  // How much of the larger of two boxes both share, from 0 to 1.
  function overlap(a, b) {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    return wide > 0 && high > 0 ? wide * high / Math.max(a.width * a.height, b.width * b.height) : 0;
  }

  function points(target) {
    const found = [];
    const area = target.tagName === "AREA" ? faces.areaOf(target) : null;
    if (area) return area.points;
    const el = faceOf(target);
    for (const rect of el.getClientRects()) {
      if (rect.width <= 0 || rect.height <= 0) continue;
      for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9], [0.9, 0.1], [0.1, 0.9]]) {
        found.push([rect.left + rect.width * fx, rect.top + rect.height * fy]);
      }
      if (found.length > 40) break;
    }
    if (found.length) return found;
    const held = around(el);
    return held ? [[held.left + held.width / 2, held.top + held.height / 2]] : [[-1, -1]];
  }

  const seen = target => { const el = faceOf(target); return el.getClientRects().length > 0 && getComputedStyle(el).visibility === "visible"; };

  // Where the inside of a frame's element lies in this document's viewport.
  function framePlace(ref) {
    const el = byRef(ref);
    if (!el) return { problem: "is no longer in the page" };
    const box = el.getBoundingClientRect(), style = getComputedStyle(el);
    const scale = el.offsetWidth ? box.width / el.offsetWidth : 1;
    return { x: box.left + (el.clientLeft + parseFloat(style.paddingLeft)) * scale,
      y: box.top + (el.clientTop + parseFloat(style.paddingTop)) * scale, scale };
  }

  // Brings a point inside a frame into view and tells where it lies here, or what is in front of it unless that may be.
  function throughFrame(ref, x, y, covered) {
    const el = byRef(ref);
    if (!el) return { problem: "lies in a frame that is no longer in the page" };
    const before = scrollX + scrollY;
    const point = () => { const at = framePlace(ref); return [at.x + x * at.scale, at.y + y * at.scale]; };
    const out = (px, py, box) => px < box.left || py < box.top || px >= box.right || py >= box.bottom;
    for (let node = parentOf(el) || el.getRootNode().host; node; node = parentOf(node) || node.getRootNode().host) {
      if (node === document.body || node === document.documentElement) break;
      const box = node.getBoundingClientRect();
      const [px, py] = point();
      if (out(px, py, box) && getComputedStyle(node).overflow !== "visible") {
        node.scrollBy({ left: px - (box.left + box.right) / 2, top: py - (box.top + box.bottom) / 2, behavior: "instant" });
      }
    }
    let [px, py] = point();
    if (out(px, py, { left: 0, top: 0, right: innerWidth, bottom: innerHeight })) {
      window.scrollBy({ left: px - innerWidth / 2, top: py - innerHeight / 2, behavior: "instant" });
      [px, py] = point();
    }
    if (out(px, py, { left: 0, top: 0, right: innerWidth, bottom: innerHeight })) return { problem: "has no point inside the window that could be clicked" };
    const moved = before !== scrollX + scrollY;
    const found = hit(px, py);
    if (found && !covered && !within(found, el)) return { problem: `is covered by ${label(found)}` };
    const at = framePlace(ref);
    return { x: px, y: py, left: at.x, top: at.y, scale: at.scale, moved };
  }

  // Where scrolled boxes stood before a person had them scrolled to look at something: the agent's page is put back.
  const stood = new Map();

  function keepPlaces(el) {
    const kept = [document.scrollingElement || document.documentElement];
    for (let node = el; node; node = parentOf(node) || node.getRootNode().host) kept.push(node);
    for (const node of kept) if (!stood.has(node)) stood.set(node, [node.scrollLeft, node.scrollTop]);
    return kept;
  }

  // Brings an element into the middle of the window for a person to see.
  function peek(ref) {
    const el = byRef(ref);
    if (!el) return missing(ref);
    keepPlaces(el);
    faceOf(el).scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    return {};
  }

  // Scrolls what lies at a point, or the nearest round it that goes further in that direction.
  function peekBy(x, y, right, down) {
    const [root, ...boxes] = keepPlaces(hit(x, y));
    for (const node of [...boxes, root]) {
      const before = node.scrollLeft + node.scrollTop;
      const free = node === root || /auto|scroll/.test(getComputedStyle(node).overflow);
      if (free) node.scrollBy({ left: right, top: down, behavior: "instant" });
      if (node.scrollLeft + node.scrollTop !== before) return {};
    }
    return {};
  }

  function putBack() {
    for (const [node, [left, top]] of stood) node.scrollTo({ left, top, behavior: "instant" });
    stood.clear();
  }

  // Where elements lie in the window now, and whether the middle of each is in view.
  function standing(refs) {
    const found = refs.map(ref => [ref, byRef(ref)]).filter(([, el]) => el);
    return found.map(([ref, el]) => { const box = boxOf(el); return [ref, box, inRoom(el, [box.x + box.width / 2, box.y + box.height / 2])]; });
  }

  return Object.freeze({ peek, peekBy, putBack, standing, hit, within, locate, unseen, boxOf, describe, reaches, place, inRoom, bringPoint, pointed,
    points, seen, framePlace, throughFrame });
})();
