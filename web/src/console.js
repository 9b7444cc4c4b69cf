// The console's page.

import "../plan/plan_picture.js";
import { cancel, currentSession, logIn, logOut, run, lookInTurn } from "./connection.js";
import { makeEditor, unitsAt } from "./editor.js";
import { arrayOf, heatMap, histogram, linePlot } from "./pictures.js";
import { element, readSchema, showSessions, showTensor, showTensors, showWorkers } from "./side.js";
import { showTable } from "./table.js";

const MOST_HELD = 256 << 20; // bytes of results, about, that the page holds
const POLL = 2000;
const byId = (id) => document.getElementById(id);
const HELLO = "-- Ctrl+Enter runs this, or what is selected.\nSHOW TENSORS;\n";

let editor;
let schema = { tensors: [], macros: [] };
let session = null;
let running = null; // {controller}
let results = []; // of the statements that ran: {columns, rows, done, kind}
let view = { result: 0, as: "table" };
let shownTable = null;

const store = {
  get: (key) => {
    try {
      return localStorage.getItem(`eindb.${key}`);
    } catch {
      return null;
    }
  },
  set: (key, value) => {
    try {
      localStorage.setItem(`eindb.${key}`, value);
    } catch {
      // a browser that keeps nothing
    }
  },
};

// ---- Login ----------------------------------------------------------------------------------------------------------

function showLogin() {
  session = null;
  byId("app").hidden = true;
  byId("login").hidden = false;
  byId("user").value ||= store.get("user") ?? "";
  (byId("user").value ? byId("password") : byId("user")).focus();
}

function enter(found) {
  session = found;
  byId("login").hidden = true;
  byId("app").hidden = false;
  byId("who").textContent = `${found.user} (${found.role})`;
  if (!editor) {
    editor = makeEditor(byId("editor"), {
      text: store.get("text") ?? HELLO,
      schema: () => [
        ...schema.tensors.map(({ name, dimensions, type }) => ({
          name, kind: "tensor", labels: dimensions.map(({ label }) => label), info: `${type} [${dimensions.map(({ extent }) => extent).join(", ")}]`,
        })),
        ...schema.macros.map((name) => ({ name, kind: "macro", labels: [], info: "macro" })),
      ],
      onRun: () => execute(),
      onCancel: () => stop(),
      onChange: (text) => store.set("text", text),
    });
  }
  editor.focus();
  refreshSchema();
}

byId("login-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter ?? byId("login-form").querySelector("button");
  button.disabled = true;
  byId("login-error").textContent = "";
  try {
    const found = await logIn(byId("user").value, byId("password").value);
    store.set("user", byId("user").value);
    byId("password").value = "";
    enter(found);
  } catch (error) {
    byId("login-error").textContent = error.hint ? `${error.message} (${error.hint})` : error.message;
    byId("password").focus();
  } finally {
    button.disabled = false;
  }
});

byId("logout").addEventListener("click", async () => {
  await logOut().catch(() => {});
  showLogin();
});

function isLoggedOut(error) {
  if (error.status !== 401) return false;
  showLogin();
  byId("login-error").textContent = "The session has ended.";
  return true;
}

// ---- The side -------------------------------------------------------------------------------------------------------

async function refreshSchema() {
  try {
    schema = await readSchema();
    showTensors(byId("side-tensors"), schema, (tensor) => {
      clearResults();
      say("");
      showTensor(byId("shown"), tensor, (text) => editor.setText(text));
      byId("results").focus();
    });
  } catch (error) {
    if (!isLoggedOut(error)) byId("side-tensors").textContent = error.message;
  }
}

async function kill(id) {
  try {
    await lookInTurn(`KILL ${id}`);
  } catch (error) {
    say(error.message);
  }
  refreshSide();
}

let refreshing = false;
async function refreshSide() {
  if (!session || refreshing || document.hidden) return;
  refreshing = true;
  try {
    if (!byId("side-sessions").hidden) await showSessions(byId("side-sessions"), kill);
    else if (!byId("side-workers").hidden) await showWorkers(byId("side-workers"));
  } catch (error) {
    isLoggedOut(error);
  } finally {
    refreshing = false;
  }
}
setInterval(refreshSide, POLL);

const tabs = [...document.querySelectorAll("[role=tab]")];
function choose(tab) {
  for (const other of tabs) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", chosen);
    other.tabIndex = chosen ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (tab.id === "tab-tensors") refreshSchema();
  else refreshSide();
}
for (const tab of tabs) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    next.focus();
    choose(next);
  });
}

// ---- Running --------------------------------------------------------------------------------------------------------

function say(text) {
  byId("status").textContent = text;
}

function setRunning(controller) {
  running = controller ? { controller } : null;
  for (const id of ["run", "explain", "analyze"]) byId(id).disabled = running !== null;
  byId("cancel").disabled = running === null;
  byId("progress").hidden = true;
  byId("progress").removeAttribute("value");
}

function stop() {
  if (!running) return false;
  say("cancelling");
  cancel().catch(() => running?.controller.abort());
  return true;
}

function clearResults() {
  shownTable?.end();
  shownTable = null;
  results = [];
  byId("shows").replaceChildren();
  byId("shown").replaceChildren();
  byId("error").hidden = true;
  byId("error").replaceChildren();
}

// The line of the text with a caret below the place, as the shell shows errors.
function showError(error, whole, begin) {
  const place = byId("error");
  place.hidden = false;
  place.replaceChildren();
  element(place, "strong", "", error.message);
  if (error.position !== undefined) {
    const at = unitsAt(whole, error.position);
    const from = whole.lastIndexOf("\n", at - 1) + 1;
    const end = whole.indexOf("\n", at);
    const line = whole.slice(from, end < 0 ? whole.length : end);
    element(place, "pre", "caret", `${line}\n${line.slice(0, at - from).replace(/[^\t]/gu, " ")}^`);
    editor.showError(begin + at, error.message);
  }
  if (error.hint) element(place, "p", "", `hint: ${error.hint}`);
  if (error.code) element(place, "span", "soft", error.code);
}

async function execute(prefix = "") {
  if (running || !session) return;
  // A plan is that of one statement.
  const selection = editor.selection() ?? (prefix ? editor.statement() : null);
  const written = selection?.text ?? editor.text();
  const begin = selection?.from ?? 0;
  const text = prefix ? prefix + written.replace(/^(\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(EXPLAIN\s*(ANALYZE\b|\([^)]*\))?)?/i, "") : written;
  clearResults();
  editor.clearError();
  editor.closeCompletion();
  const controller = new AbortController();
  setRunning(controller);
  const started = performance.now();
  const seconds = () => EindbPlan.seconds((performance.now() - started) / 1000);
  const ticking = setInterval(() => byId("progress").hidden && say(`running, ${Math.round((performance.now() - started) / 1000)} s`), 500);
  let failed = false;
  let held = 0;
  let result;
  let drawing = 0;
  try {
    await run(text, {
      rows: Number(byId("rows").value), signal: controller.signal,
      take(event) {
        if (event.statement !== undefined) result = { columns: [], rows: [], done: "", notices: [] };
        if (event.columns) {
          result.columns = event.columns;
          results.push(result);
          view = { result: results.length - 1, as: "table" };
          showResults();
        }
        if (event.rows instanceof Array) {
          for (const row of event.rows) {
            result.rows.push(row);
            for (const value of row) held += typeof value === "string" ? 2 * value.length + 24 : 8;
          }
          if (held > MOST_HELD) {
            result.cut = true;
            controller.abort();
            return;
          }
          drawing ||= requestAnimationFrame(() => {
            drawing = 0;
            shownTable?.grow();
          });
        }
        if (event.progress) {
          const share = /(\d+) %/.exec(event.progress);
          byId("progress").hidden = false;
          if (share) byId("progress").value = Number(share[1]);
          say(event.progress);
        }
        if (event.notice) say(event.notice);
        if (event.done !== undefined) {
          result.done = event.done;
          result.more = event.more === true;
        }
        if (event.error) {
          failed = true;
          const error = { ...event.error };
          if (prefix && error.position !== undefined) error.position = Math.max(0, error.position - prefix.length + (written.length - (text.length - prefix.length)));
          showError(error, prefix ? written : text, begin);
        }
        if (event.end) byId("transaction").textContent = { I: "", T: "in a transaction", E: "in a failed transaction" }[event.transaction] ?? "";
      },
    });
    const shown = results.reduce((sum, { rows }) => sum + rows.length, 0);
    const more = results.some((one) => one.more) ? ", and there are more" : "";
    say(failed ? `failed after ${seconds()}` : `${result?.done || "nothing to run"}: ${shown.toLocaleString("en-US")} ${shown === 1 ? "row" : "rows"}${more}, ${seconds()}`);
  } catch (error) {
    if (result?.cut) say(`the page holds no more than ${EindbPlan.bytes(MOST_HELD)}: the first ${result.rows.length.toLocaleString("en-US")} rows are here`);
    else if (!isLoggedOut(error)) {
      showError(error, text, begin);
      say("failed");
    }
  } finally {
    clearInterval(ticking);
    setRunning(null);
  }
  if (results.length) showResults();
  if (/\b(CREATE|DROP|ALTER|COPY|INSERT|UPDATE|DELETE|REPEAT|ROLLBACK)\b/i.test(text)) refreshSchema();
}

byId("run").addEventListener("click", () => execute());
byId("cancel").addEventListener("click", stop);
byId("explain").addEventListener("click", () => execute("EXPLAIN (FORMAT json) "));
byId("analyze").addEventListener("click", () => execute("EXPLAIN (FORMAT json, ANALYZE) "));

// ---- Results --------------------------------------------------------------------------------------------------------

function planOf(result) {
  if (result.columns.length !== 1 || result.columns[0].name !== "plan" && !/plan/i.test(result.columns[0].name)) return null;
  if (result.rows.length !== 1 || typeof result.rows[0][0] !== "string") return null;
  try {
    const plan = JSON.parse(result.rows[0][0]);
    return plan.vertices || plan.operators || plan.steps ? plan : null;
  } catch {
    return null;
  }
}

function waysOf(result) {
  if (planOf(result)) return ["plan", "table"];
  const pictures = result.columns.some(({ type }) => /^(int|float|numeric)/.test(type)) ? ["heat map", "line", "histogram", "image"] : [];
  return ["table", ...pictures];
}

function showResults() {
  const bar = byId("shows");
  const host = byId("shown");
  const result = results[view.result];
  const ways = waysOf(result);
  if (ways[0] === "plan" && view.as === "table" && !view.chosen) view.as = "plan";
  bar.replaceChildren();
  if (results.length > 1) {
    const label = element(bar, "label", "", "Result ");
    const select = element(label, "select");
    results.forEach((_, n) => (element(select, "option", "", `${n + 1} of ${results.length}`).value = n));
    select.value = view.result;
    select.addEventListener("change", () => {
      view = { result: Number(select.value), as: "table" };
      showResults();
    });
  }
  const group = element(bar, "div", "choice");
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", "show as");
  for (const way of ways) {
    const button = element(group, "button", "", way);
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", view.as === way);
    button.tabIndex = view.as === way ? 0 : -1;
    button.addEventListener("click", () => {
      view = { ...view, as: way, chosen: true };
      showResults();
      byId("shows").querySelector("[aria-checked=true]")?.focus();
    });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) group.children[(ways.indexOf(way) + step + ways.length) % ways.length].click();
    });
  }
  shownTable?.end();
  shownTable = null;
  host.replaceChildren();
  host.className = view.as === "plan" ? "plan-host" : "";
  if (view.as === "table") {
    shownTable = showTable(host, result);
    return;
  }
  if (view.as === "plan") return EindbPlan.draw(element(host, "div"), planOf(result));
  const array = arrayOf(result);
  if (!array) return element(host, "p", "soft", "There is nothing to draw.");
  if (result.more) element(host, "p", "soft", "The picture has the rows that were fetched; there are more.");
  ({
    "heat map": () => heatMap(host, array),
    image: () => heatMap(host, array, { grey: true }),
    line: () => linePlot(host, array),
    histogram: () => histogram(host, array),
  })[view.as]();
}

// ---- Light and dark -------------------------------------------------------------------------------------------------

function useTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  byId("theme").textContent = `Colours: ${theme || "system"}`;
  if (results.length && view.as !== "table" && view.as !== "plan") showResults();
}
byId("theme").addEventListener("click", () => {
  const next = { "": "light", light: "dark", dark: "" }[store.get("theme") ?? ""];
  store.set("theme", next);
  useTheme(next);
});
useTheme(store.get("theme") ?? "");

const found = await currentSession().catch(() => ({ user: null }));
if (found.user) enter(found);
else showLogin();
document.documentElement.dataset.ready = "true";
