// Where a person finds a control that has no box to click itself: the label in front of a hidden input, the thumb of a
// slider, an area of a picture.
const faces = (() => {
  const { LISTENS } = elements;
  const { labelsOf, content } = names;

  const FACED = new Set(["checkbox", "radio", "range"]);
  const CONTROLS = "a[href],button,input:not([type=hidden]),select,textarea,[contenteditable],[tabindex]:not([tabindex='-1']),"
    + "[role=button],[role=checkbox],[role=radio],[role=switch],[role=slider],[role=link],[role=tab],[role=option]";
  const ENDS = new Set(["BODY", "HTML", "FORM", "FIELDSET", "TABLE", "UL", "OL", "MAIN"]);
  const LEVELS = 3;
  const LEAST = 2;  // pixels; what is smaller was made so to be hidden

  const checks = el => el.tagName === "INPUT" && (el.type === "checkbox" || el.type === "radio");
  const large = box => box.width > LEAST && box.height > LEAST;

  function clipped(style) {
    return style.clip !== "auto" && style.position === "absolute" && /^rect\((0|1)px,? (0|1)px,? (0|1)px,? (0|1)px\)$/.test(style.clip)
      || /^inset\((50|100)%\)$/.test(style.clipPath);
  }

  // Whether a box lies left of or above the page, where no scrolling leads.
  const outside = box => box.right + scrollX <= 0 || box.bottom + scrollY <= 0;

  // Whether an input lies in a box that is clipped to nothing.
  function shut(el) {
    for (let box = el, up = 0; box && up <= LEVELS; box = box.parentElement, up++) if (clipped(getComputedStyle(box))) return true;
    return false;
  }

  // Whether no pointer reaches a field.
  function unreachable(el) {
    const style = getComputedStyle(el), box = el.getBoundingClientRect();
    return style.display === "none" || style.visibility !== "visible" || shut(el) || !large(box) || outside(box);
  }

  // Whether an input is there for keys and scripts only, and something else is what a person sees of it.
  function concealed(el) {
    const style = getComputedStyle(el);
    return style.opacity === "0" || style.pointerEvents === "none" || unreachable(el);
  }

  function seen(el) {
    const style = getComputedStyle(el);
    const box = el.getBoundingClientRect();
    if (style.visibility !== "visible" || clipped(style) || outside(box)) return false;
    return large(box) || Array.from(el.children).some(one => large(one.getBoundingClientRect()));
  }

  // The boxes round an input that hold no other control, the innermost first.
  function holders(el) {
    const found = [];
    for (let box = el.parentElement; box && found.length < LEVELS && !ENDS.has(box.tagName); box = box.parentElement) {
      const controls = box.querySelectorAll(CONTROLS);
      if (controls.length > 1 || controls.length && controls[0] !== el) break;
      found.push(box);
    }
    return found;
  }

  // What a person sees and clicks in place of a hidden input, or null where that is the input itself, or nothing.
  function faceOf(el) {
    if (el.tagName !== "INPUT") return null;
    if (!FACED.has(el.type) && el.getAttribute("role") !== "combobox") {
      return (el.readOnly || el.hasAttribute("aria-haspopup")) && unreachable(el) ? widgetOf(el) : null;
    }
    if (!concealed(el)) return null;
    if (checks(el)) {
      const label = labelsOf(el).find(seen);
      if (label) return label;
    }
    const style = getComputedStyle(el);
    if (style.display === "none") return null;  // No key reaches it: who knows what a click beside it does.
    const box = el.getBoundingClientRect();
    if (style.visibility === "visible" && !shut(el) && large(box) && !outside(box)) return null;  // It is where it is seen.
    return holders(el).find(seen) || null;
  }

  // Whether an element that was hit belongs to a hidden input, for nothing else is near.
  function belongs(found, el) {
    return el.tagName === "INPUT" && concealed(el) && holders(el).some(box => box.contains(found));
  }

  // A field that assistive technology or the keys pass over and nobody sees only carries the value of another control.
  function carrier(el) {
    if (el.tagName === "INPUT" && el.getAttribute("aria-hidden") === "true") return concealed(el);
    const passed = (el.getAttribute("tabindex") || "").startsWith("-") || el.getAttribute("aria-hidden") === "true";
    return passed && !FACED.has(el.type) && el.type !== "file" && unreachable(el);
  }

  const FIELDS = "a[href],button,input:not([type=hidden]),select,textarea";

  // The box round a field that answers clicks for it: the nearest that is seen and holds no other field.
  function widgetOf(el) {
    for (let box = el.parentElement, up = 0; box && up <= LEVELS && !ENDS.has(box.tagName); box = box.parentElement, up++) {
      if (Array.from(box.querySelectorAll(FIELDS)).some(one => one !== el && !carrier(one) && getComputedStyle(one).display !== "none")) return null;
      const answers = /click|down/.test(box[LISTENS] ?? "") || box.matches("[onclick],[onmousedown],[tabindex],[role=combobox],[role=button]")
        || getComputedStyle(box).cursor === "pointer";
      if (answers && seen(box)) return box;
    }
    return null;
  }

  // The words that a field shows for what was chosen while its own text is empty, as searchable lists do, and the box
  // that they stand in; null for none.
  function chosen(el) {
    const most = Math.max(60, 2 * el.getBoundingClientRect().height);
    for (const box of holders(el)) {
      if (box.getBoundingClientRect().height > most) return null;
      const text = content(box, el);
      if (!text) continue;
      const hint = box.querySelector("[class*=placeholder i],[id*=placeholder i]");
      return hint && content(hint) === text ? null : { text, box };
    }
    return null;
  }

  // An area of a picture: the picture, the box of the area in the window, and points inside it.
  function areaOf(area) {
    const map = area.closest("map");
    const images = map ? Array.from(map.getRootNode().querySelectorAll("img[usemap]")) : [];
    const image = images.find(one => one.useMap.replace(/^#/, "") === (map.name || map.id) && seen(one));
    if (!image) return null;
    const outer = image.getBoundingClientRect(), style = getComputedStyle(image);
    const left = outer.left + image.clientLeft + parseFloat(style.paddingLeft);
    const top = outer.top + image.clientTop + parseFloat(style.paddingTop);
    const numbers = area.coords.split(/[\s,;]+/).filter(Boolean).map(Number).filter(Number.isFinite);
    const pairs = [];
    for (let i = 0; i + 1 < numbers.length; i += 2) pairs.push([numbers[i], numbers[i + 1]]);
    const shape = area.shape.toLowerCase();
    let corners = pairs, points;
    if (shape.startsWith("circ") && numbers.length >= 3) {
      const [x, y, radius] = numbers;
      corners = [[x - radius, y - radius], [x + radius, y + radius]];
    } else if (shape === "default" || !pairs.length) {
      corners = [[0, 0], [image.clientWidth, image.clientHeight]];
    }
    const xs = corners.map(one => one[0]), ys = corners.map(one => one[1]);
    const box = new DOMRect(left + Math.min(...xs), top + Math.min(...ys), Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
    points = [0.5, 0.25, 0.75, 0.1, 0.9].flatMap(fy => [0.5, 0.25, 0.75, 0.1, 0.9].map(fx => [box.left + box.width * fx, box.top + box.height * fy]));
    return { image, box, points };
  }

  return Object.freeze({ checks, clipped, unreachable, concealed, holders, faceOf, belongs, carrier, widgetOf, chosen, areaOf });
})();
