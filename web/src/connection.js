// The page's side of the connection to the server: calls of /api, and the events of statements that run.

const HEADERS = { "Content-Type": "application/json", "X-Eindb-Console": "1" };

export class ServerError extends Error {
  constructor(error, status) {
    super(error?.message ?? "the server does not answer");
    this.hint = error?.hint;
    this.status = status;
  }
}

async function post(path, body) {
  const answer = await fetch(path, { method: "POST", headers: HEADERS, body: JSON.stringify(body), cache: "no-store" });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ServerError(said.error, answer.status);
  return said;
}

export async function currentSession() {
  return (await fetch("/api/session", { cache: "no-store" })).json();
}

export const logIn = (user, password) => post("/api/login", { user, password });
export const logOut = () => post("/api/logout", {});
export const cancel = (views = false) => post("/api/cancel", { views });

/** Runs statements, and calls `take` with each event as it comes. Aborting `signal` cancels what runs. */
export async function run(text, { rows = 1000, views = false, signal, take }) {
  const answer = await fetch("/api/run", {
    method: "POST", headers: HEADERS, body: JSON.stringify({ text, rows, views }), signal, cache: "no-store",
  });
  if (!answer.ok) throw new ServerError((await answer.json().catch(() => ({}))).error, answer.status);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let ended = false;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const event = JSON.parse(line);
      ended ||= event.end === true;
      take(event);
    }
  }
  if (!ended) throw new ServerError({ message: "the connection ended before the statement did" });
}

/** The rows of one statement of the page's own, as lists of values, and as objects by their columns' names. Throws the statement's error. */
export async function look(text, { rows = 10000, signal } = {}) {
  let columns = [];
  const values = [];
  let error;
  await run(text, {
    rows, views: true, signal,
    take(event) {
      if (event.columns) columns = event.columns;
      if (event.rows instanceof Array) values.push(...event.rows);
      if (event.error) error = event.error;
    },
  });
  if (error) throw new ServerError(error);
  const objects = values.map((row) => Object.fromEntries(row.map((value, at) => [columns[at].name, value])));
  return { columns, values, rows: objects };
}

// The session's views run one after the other.
let last = Promise.resolve();
export function lookInTurn(text, options) {
  const next = last.then(() => look(text, options));
  last = next.catch(() => {});
  return next;
}
