// The side of the page: tensors with their shapes, tiles and formats; what runs; workers.

import { heatMap, linePlot, arrayOf } from "./pictures.js";
import { lookInTurn } from "./connection.js";

const SVG = "http://www.w3.org/2000/svg";
const WINDOW = 200; // cells of a side of a part that is looked at
const OVERVIEW = 256;

export function element(parent, name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

function svg(parent, name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

export const quoted = (name) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

const numberIn = (value) => Number(value ?? 0);

/** "i 300, j 400" as [{label, extent}]. */
export function dimensionsOf(text) {
  if (!text) return [];
  return text.split(/,\s*/).map((part) => {
    const space = part.lastIndexOf(" ");
    return { label: part.slice(0, space), extent: Number(part.slice(space + 1)) };
  });
}

export async function readSchema() {
  const { rows } = await lookInTurn("SHOW TENSORS");
  const tensors = rows.map((row) => ({
    name: row.tensor,
    type: row.type,
    dimensions: dimensionsOf(row.dimensions),
    partition: JSON.parse(row.partition || "[]"),
    tiles: numberIn(row.tiles),
    storedTiles: numberIn(row.stored_tiles),
    storedBytes: numberIn(row.stored_bytes),
    storedCells: row.stored_cells === null || row.stored_cells === "" ? null : numberIn(row.stored_cells),
    formats: row.formats || "",
    statistics: row.statistics || "",
  }));
  let macros = [];
  try {
    macros = (await lookInTurn("SHOW MACROS")).rows.map((row) => Object.values(row)[0]);
  } catch {
    // a user who may not see them has none
  }
  return { tensors, macros };
}

// The shape: the last two dimensions as a rectangle in proportion, those before it behind, cut into tiles.
function drawShape(parent, tensor) {
  const extents = tensor.dimensions.map(({ extent }) => extent);
  const [rows, columns] = extents.length === 0 ? [1, 1] : extents.length === 1 ? [1, extents[0]] : extents.slice(-2);
  const parts = tensor.partition.length === 0 ? [1, 1] : tensor.partition.length === 1 ? [1, tensor.partition[0]] : tensor.partition.slice(-2);
  const side = (extent, other) => Math.max(14, 56 * Math.min(1, (extent / Math.max(other, 1)) ** 0.5));
  const [height, width] = [side(rows, columns), side(columns, rows)];
  const picture = svg(parent, "svg", { class: "shape", width: 72, height: 72, viewBox: "-4 -12 72 72", "aria-hidden": "true" });
  const behind = Math.min(extents.length - 2, 2);
  for (let n = behind; n >= 1; --n) svg(picture, "rect", { x: 4 * n, y: -4 * n, width, height, class: "tile" });
  const density = tensor.tiles > 0 ? tensor.storedTiles / tensor.tiles : 1;
  svg(picture, "rect", { x: 0, y: 0, width, height, class: density > 0 ? "tile full" : "tile" });
  const [across, down] = [Math.min(parts[1], 12), Math.min(parts[0], 12)];
  for (let n = 1; n < across; ++n) svg(picture, "line", { x1: (width * n) / across, x2: (width * n) / across, y1: 0, y2: height, class: "cut" });
  for (let n = 1; n < down; ++n) svg(picture, "line", { x1: 0, x2: width, y1: (height * n) / down, y2: (height * n) / down, class: "cut" });
}

function densityOf(tensor) {
  const cells = tensor.dimensions.reduce((product, { extent }) => product * extent, 1);
  return tensor.storedCells === null || cells === 0 ? null : tensor.storedCells / cells;
}

function meter(parent, label, share, text) {
  const line = element(parent, "div", "meter");
  element(line, "span", "soft", label);
  const bar = element(line, "span", "meter-bar");
  const fill = element(bar, "span", "meter-fill");
  fill.style.width = `${Math.max(share * 100, share > 0 ? 1 : 0)}%`;
  element(line, "span", "", text);
}

export function showTensors(host, { tensors }, open) {
  host.replaceChildren();
  if (tensors.length === 0) element(host, "p", "soft", "There are no tensors. CREATE TENSOR X AS EINSUM X[i 3, j 4] = i + j makes one.");
  const list = element(host, "ul", "cards");
  for (const tensor of tensors) {
    const item = element(list, "li");
    const card = element(item, "button", "card");
    card.type = "button";
    drawShape(card, tensor);
    const text = element(card, "span", "card-text");
    element(text, "strong", "", tensor.name);
    element(text, "span", "", tensor.dimensions.map(({ label, extent }) => `${label} ${extent.toLocaleString("en-US")}`).join(", ") || "one cell");
    element(text, "span", "soft", `${tensor.type}, ${EindbPlan.bytes(tensor.storedBytes)}`);
    element(text, "span", "soft", `${tensor.storedTiles} of ${tensor.tiles} tiles [${tensor.partition.join(", ")}]`);
    const density = densityOf(tensor);
    if (density !== null) meter(text, "density", density, density < 0.001 ? density.toExponential(1) : `${(density * 100).toPrecision(3)} %`);
    if (tensor.formats) element(text, "span", "soft", tensor.formats);
    card.addEventListener("click", () => open(tensor));
  }
}

// ---- A tensor's cells ---------------------------------------------------------------------------------------------

/** Shows a part of a tensor, for which the server reads the tiles with that part alone, or every n-th cell of the whole. */
export function showTensor(host, tensor, useStatement) {
  host.replaceChildren();
  const extents = tensor.dimensions.map(({ extent }) => extent);
  const rank = extents.length;
  const at = extents.map(() => 0);
  let overview = false;
  const bar = element(host, "div", "bar");
  element(bar, "h2", "", tensor.name);
  const steps = [];
  const inputs = tensor.dimensions.map(({ label, extent }, n) => {
    const wrapped = element(bar, "label", "index", `${label} `);
    const input = element(wrapped, "input");
    input.type = "number";
    input.min = 0;
    input.max = Math.max(extent - 1, 0);
    input.value = 0;
    input.addEventListener("change", () => {
      at[n] = Math.min(Math.max(Math.trunc(Number(input.value)) || 0, 0), Math.max(extent - 1, 0));
      input.value = at[n];
      draw();
    });
    return input;
  });
  for (const [text, name, n, by] of [["◀", "left", rank - 1, -1], ["▶", "right", rank - 1, 1], ["▲", "up", rank - 2, -1], ["▼", "down", rank - 2, 1]]) {
    if (n < 0 || extents[n] <= WINDOW) continue;
    const button = element(bar, "button", "", text);
    button.type = "button";
    button.setAttribute("aria-label", name);
    button.addEventListener("click", () => {
      at[n] = Math.min(Math.max(at[n] + by * WINDOW, 0), Math.max(extents[n] - WINDOW, 0));
      inputs[n].value = at[n];
      draw();
    });
    steps.push(button);
  }
  if (rank >= 1 && extents.slice(-2).some((extent) => extent > WINDOW)) {
    const wrapped = element(bar, "label", "index");
    const box = element(wrapped, "input");
    box.type = "checkbox";
    wrapped.append(" every n-th cell of the whole (reads all its tiles)");
    box.addEventListener("change", () => {
      overview = box.checked;
      for (const button of steps) button.disabled = overview;
      draw();
    });
  }
  const use = element(bar, "button", "", "To the editor");
  use.type = "button";
  const body = element(host, "div", "tensor-picture");
  body.setAttribute("aria-busy", "true");

  const statement = () => {
    const shown = extents.map((extent, n) => {
      if (n < rank - 2) return String(at[n]);
      if (overview) return `::${Math.max(1, Math.ceil(extent / OVERVIEW))}`;
      return `${at[n]}:${Math.min(at[n] + WINDOW, extent)}`;
    });
    const labels = tensor.dimensions.slice(-2).map(({ label }) => quoted(label));
    return `EINSUM part[${labels.join(", ")}] = ${quoted(tensor.name)}[${shown.join(", ")}]`;
  };
  use.addEventListener("click", () => useStatement(statement()));
  let running;
  async function draw() {
    running?.abort();
    const mine = (running = new AbortController());
    body.setAttribute("aria-busy", "true");
    try {
      const result = await lookInTurn(statement(), { rows: 100000, signal: mine.signal });
      if (mine.signal.aborted) return;
      body.replaceChildren();
      const last = extents.slice(-2);
      const shape = last.map((extent, n) => (overview ? Math.ceil(extent / Math.max(1, Math.ceil(extent / OVERVIEW))) : Math.min(WINDOW, extent - at.slice(-2)[n])));
      const array = arrayOf({ columns: result.columns, rows: result.values }, shape);
      if (!array) return element(body, "p", "soft", "There are no cells to draw.");
      if (rank === 0) return element(body, "p", "", `${tensor.name} = ${array.values[0]}`);
      if (rank === 1) linePlot(body, array);
      else heatMap(body, array, {
        offset: overview ? [0, 0] : at.slice(-2),
        step: overview ? last.map((extent) => Math.max(1, Math.ceil(extent / OVERVIEW))) : [1, 1],
      });
    } catch (error) {
      if (mine.signal.aborted) return;
      body.replaceChildren();
      const message = element(body, "p", "error-text", error.message);
      message.setAttribute("role", "alert");
    } finally {
      if (!mine.signal.aborted) body.setAttribute("aria-busy", "false");
    }
  }
  draw();
}

// ---- What runs, and workers ---------------------------------------------------------------------------------------

export async function showSessions(host, kill) {
  const { rows } = await lookInTurn("SHOW SESSIONS");
  host.replaceChildren();
  const list = element(host, "ul", "cards");
  for (const row of rows) {
    const item = element(list, "li", "session");
    const head = element(item, "div");
    element(head, "strong", "", `${row.id} ${row.user}`);
    element(head, "span", row.state === "active" ? "badge active" : "badge", row.state);
    element(item, "div", "soft", `${row.application_name || "a client"}, ${row.address}`);
    if (row.statement) element(item, "code", "", row.statement.length > 300 ? `${row.statement.slice(0, 300)}…` : row.statement);
    if (row.state !== "active" || /SHOW SESSIONS/.test(row.statement ?? "")) continue;
    const button = element(item, "button", "", "Cancel");
    button.type = "button";
    button.setAttribute("aria-label", `cancel the statement of session ${row.id}`);
    button.addEventListener("click", () => kill(row.id));
  }
}

export async function showWorkers(host) {
  let rows;
  try {
    ({ rows } = await lookInTurn("SHOW WORKERS"));
  } catch (error) {
    host.replaceChildren();
    element(host, "p", "soft", error.message);
    return;
  }
  host.replaceChildren();
  if (rows.length === 0) element(host, "p", "soft", "This server has no workers: it computes itself.");
  const most = (key) => Math.max(1, ...rows.map((row) => numberIn(row[key])));
  const greatest = { bytes_stored: most("bytes_stored"), bytes_received: most("bytes_received"), bytes_sent: most("bytes_sent") };
  const list = element(host, "ul", "cards");
  for (const row of rows) {
    const item = element(list, "li", "session");
    const head = element(item, "div");
    element(head, "strong", "", row.address);
    element(head, "span", row.state === "up" ? "badge active" : "badge", row.state);
    if (row.reason) element(item, "div", "error-text", row.reason);
    for (const [key, name] of [["bytes_stored", "holds"], ["bytes_received", "received"], ["bytes_sent", "sent"]])
      if (row[key] !== undefined && row[key] !== null) meter(item, name, numberIn(row[key]) / greatest[key], EindbPlan.bytes(numberIn(row[key])));
    const rest = Object.entries(row).filter(([key, value]) => !["address", "state", "reason", "bytes_stored", "bytes_received", "bytes_sent"].includes(key) && value !== null && value !== "");
    const details = element(item, "details");
    element(details, "summary", "", "more");
    const terms = element(details, "dl");
    for (const [key, value] of rest) {
      element(terms, "dt", "soft", key.replaceAll("_", " "));
      element(terms, "dd", "", String(value));
    }
  }
}
