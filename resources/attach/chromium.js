// Put before all else into a Node program that Backstep has started, Playwright's driver among them: Playwright finds the
// stand-in for Chromium whatever its version. Each version looks below PLAYWRIGHT_BROWSERS_PATH for another path, such
// as chromium-1117/chrome-linux/chrome. In the folder that Backstep gave, such a path is made when it is made out or looked for.
"use strict";
const fs = require("fs");
const path = require("path");

const PROGRAM = /^chromium[^/\\]*-\d+[/\\].+[/\\]/;
const MARKER = /^chromium[^/\\]*-\d+[/\\][A-Z_]+$/; // Says that nothing is left to install, or to check.
const { existsSync, mkdirSync, symlinkSync, writeFileSync } = fs;

function make(file) {
    const folder = process.env.PLAYWRIGHT_BROWSERS_PATH;
    if (!folder || typeof file !== "string") return;
    if (!file.startsWith(folder)) return;
    const standIn = `${folder}/backstep-chromium`;
    const below = path.relative(folder, file);
    const program = PROGRAM.test(below);
    if (!(program || MARKER.test(below)) || existsSync(file) || !existsSync(standIn)) return;
    try {
        mkdirSync(path.dirname(file), { recursive: true });
        if (program) symlinkSync(standIn, file);
        else writeFileSync(file, "");
    } catch {
        // Another process has made it, or the folder has gone with its run.
    }
}

for (const name of ["accessSync", "existsSync", "stat"]) {
    const real = fs[name];
    const looking = (file, ...given) => {
        make(file);
        return real.call(fs, file, ...given);
    };
    fs[name] = Object.assign(looking, real);
    for (const symbol of Object.getOwnPropertySymbols(real)) looking[symbol] = real[symbol];
}

// Programs that ask Playwright for the path start what is there themselves.
const { join } = path;
path.join = (...parts) => {
    const file = join(...parts);
    make(file);
    return file;
};
require("module").syncBuiltinESMExports();
