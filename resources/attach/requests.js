// Put into each Node program that Backstep has started, Playwright's driver among them (NODE_OPTIONS=--require): what
// Playwright sends beside the page (APIRequestContext, such as context.request.post) waits until Backstep lets it go.
"use strict";
const http = require("http");
const https = require("https");

function hold(address) {
    const ask = http.request.bind(http);

    // Resolves once the request may be sent; rejects with why it may not.
    function permitted(method, url) {
        return new Promise((resolve, reject) => {
            const asked = ask(address, { method: "POST", headers: { "Content-Type": "application/json" } }, answer => {
                let said = "";
                answer.setEncoding("utf8");
                answer.on("data", piece => { said += piece; });
                answer.on("end", () => (answer.statusCode === 403 ? reject(new Error(said)) : resolve()));
            });
            asked.on("error", () => resolve()); // The run has ended.
            asked.end(JSON.stringify({ method, url }));
        });
    }

    function isPlaywrights(options) {
        if (!options || typeof options !== "object" || !("maxRedirects" in options)) return false;
        const stack = new Error().stack || "";
        return stack.includes("playwright") && stack.includes("_sendRequest");
    }

    for (const module of [http, https]) {
        const real = module.request;
        module.request = function request(url, options, ...rest) {
            if (!(url instanceof URL) || !isPlaywrights(options)) return real.call(module, url, options, ...rest);
            const agent = options.agent || module.globalAgent;
            const held = Object.create(agent);
            held.addRequest = (request, ...given) => {
                permitted(options.method || "GET", url.href).then(
                    () => agent.addRequest(request, ...given),
                    error => request.onSocket(null, error));
            };
            return real.call(module, url, { ...options, agent: held }, ...rest);
        };
    }
}

if (process.env.BACKSTEP_REQUESTS) hold(process.env.BACKSTEP_REQUESTS);
