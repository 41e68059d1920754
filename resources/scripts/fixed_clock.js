/* Gives a page the same time, time zone, language of dates and random numbers on every machine.

   Runs before the page's own scripts. Takes one argument: {origin, clock, seed};
   an empty origin means every page.
   `clock` is the time in milliseconds at which every document starts; it runs on
   from there. The time zone is UTC and dates are written in American English, as
   the pages expect. Math.random is seeded until the page seeds it itself. */
(settings) => {
  if (settings.origin && location.origin !== settings.origin) return;
  const installed = Symbol.for("backstep.clock");
  if (window[installed]) return;
  Object.defineProperty(window, installed, { value: true });

  let state = (settings.seed ^ 0x9e3779b9) >>> 0;
  Math.random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  const RealDate = Date;
  const real = RealDate.prototype;
  const now = () => settings.clock + Math.floor(performance.now());
  const hasZone = /(?:Z|GMT|UTC|UT|[+-]\d{2}:?\d{2})\s*(?:\([^)]*\))?\s*$/i;
  const isIsoTime = /^[+-]?\d{4,6}-\d{2}(?:-\d{2})?T/;
  const isIsoDay = /^[+-]?\d{4,6}(?:-\d{2}){0,2}$/;
  const parse = (value) => {
    const text = String(value).trim();
    if (isIsoDay.test(text) || (hasZone.test(text) && !/^\d{1,2}-\d{1,2}-\d{4}$/.test(text))) {
      return RealDate.parse(text);
    }
    const moment = RealDate.parse(isIsoTime.test(text) ? text + "Z" : text + " UTC");
    return Number.isNaN(moment) ? RealDate.parse(text) : moment;
  };
  const read = (args) => {
    if (args.length === 0) return [now()];
    if (args.length > 1) return [RealDate.UTC(...args)];
    const only = args[0];
    if (only instanceof RealDate) return [only.getTime()];
    const plain = typeof only === "object" && only !== null ? only[Symbol.toPrimitive]?.("default") ?? String(only) : only;
    return [typeof plain === "string" ? parse(plain) : plain];
  };
  function FixedDate(...args) {
    if (new.target === undefined) return new FixedDate().toString();
    return Reflect.construct(RealDate, read(args), new.target);
  }
  Object.defineProperty(FixedDate, "name", { value: "Date" });
  Object.defineProperty(FixedDate, "length", { value: 7 });
  FixedDate.prototype = real;
  FixedDate.now = now;
  FixedDate.parse = parse;
  FixedDate.UTC = RealDate.UTC;
  const define = (name, value) =>
    Object.defineProperty(real, name, { value, writable: true, configurable: true });
  define("constructor", FixedDate);
  for (const part of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"]) {
    define("get" + part, real["getUTC" + part]);
    if (part !== "Day") define("set" + part, real["setUTC" + part]);
  }
  define("getYear", function () { return this.getUTCFullYear() - 1900; });
  define("getTimezoneOffset", function () { return Number.isNaN(this.getTime()) ? NaN : 0; });
  const words = (date) => date.toUTCString().match(/^(\w{3}), (\d\d) (\w{3}) (\S+) (\S+) GMT$/);
  define("toDateString", function () {
    const parts = words(this);
    return parts ? `${parts[1]} ${parts[3]} ${parts[2]} ${parts[4]}` : "Invalid Date";
  });
  define("toTimeString", function () {
    const parts = words(this);
    return parts ? `${parts[5]} GMT+0000 (Coordinated Universal Time)` : "Invalid Date";
  });
  define("toString", function () {
    return Number.isNaN(this.getTime()) ? "Invalid Date" : `${this.toDateString()} ${this.toTimeString()}`;
  });
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
    const original = real[name];
    define(name, function (locales, options) {
      return original.call(this, locales ?? "en-US", { timeZone: "UTC", ...options });
    });
  }
  window.Date = FixedDate;
}
