// The same for a Node program, Playwright's driver among them (NODE_OPTIONS=--require): what is measured by a timer or a
// monotonic clock stands still while the program is held. A timer that comes while it is held, or was held meanwhile,
// is set again for the time that does not count.
"use strict";
const fs = require("fs");

function hold(path) {
    const file = fs.openSync(path, "r");
    const shared = Buffer.alloc(16);
    const realNow = process.hrtime.bigint.bind(process.hrtime);
    const realTimer = globalThis.setTimeout;
    const realClear = globalThis.clearTimeout;
    const realPerformance = performance.now.bind(performance);
    const SHORTEST = 100; // Milliseconds: shorter timers do not end a wait for a person.

    function heldSeconds() {
        fs.readSync(file, shared, 0, 16, 0);
        const total = shared.readDoubleLE(0);
        const since = shared.readDoubleLE(8);
        return total + (since ? Number(realNow()) / 1e9 - since : 0);
    }

    // The timer under way in place of each that was set again.
    const later = new WeakMap();

    function setTimeout(callback, wait, ...given) {
        if (typeof callback !== "function" || !(wait > SHORTEST)) return realTimer(callback, wait, ...given);
        let before = heldSeconds();
        const first = realTimer(fire, wait);
        function fire() {
            const now = heldSeconds();
            const more = (now - before) * 1000;
            before = now;
            if (more > 1) {
                const next = realTimer(fire, more);
                if (!first.hasRef()) next.unref();
                later.set(first, next);
            } else callback(...given);
        }
        return first;
    }

    function clearTimeout(timer) {
        if (timer !== null && typeof timer === "object" && later.has(timer)) realClear(later.get(timer));
        return realClear(timer);
    }

    function hrtime(before) {
        const now = hrtime.bigint();
        const seconds = Number(now / 1000000000n);
        const rest = Number(now % 1000000000n);
        if (!before) return [seconds, rest];
        const passed = [seconds - before[0], rest - before[1]];
        return passed[1] < 0 ? [passed[0] - 1, passed[1] + 1e9] : passed;
    }
    hrtime.bigint = () => realNow() - BigInt(Math.round(heldSeconds() * 1e9));

    setTimeout[require("util").promisify.custom] = realTimer[require("util").promisify.custom];
    globalThis.setTimeout = setTimeout;
    globalThis.clearTimeout = clearTimeout;
    process.hrtime = hrtime;
    performance.now = () => realPerformance() - heldSeconds() * 1000;
}

if (process.env.BACKSTEP_CLOCK) {
    try {
        hold(process.env.BACKSTEP_CLOCK);
    } catch {
        // Without the file the program is not held.
    }
}
