// Asks the desk's server; the scenario in the address goes along with every question.

const query = () => {
  const scenario = new URLSearchParams(location.search).get("scenario");
  return scenario ? `?scenario=${encodeURIComponent(scenario)}` : "";
};

// What the server refused: a sentence, and for forms what is wrong with each field.
export class Refusal extends Error {
  constructor(status, { message, problems = {} }) {
    super(message);
    this.status = status;
    this.problems = problems;
  }
}

export const get = (path) => ask(path, {});

export const post = (path, body) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

async function ask(path, options) {
  let response, data;
  try {
    response = await fetch(`/api/${path}${query()}`, { cache: "no-store", ...options });
    data = await response.json();
  } catch {
    throw new Refusal(0, { message: "The desk's server does not answer. Try again." });
  }
  if (!response.ok) throw new Refusal(response.status, data);
  return data;
}
