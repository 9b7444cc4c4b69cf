// A table of any number of rows, of which those alone that are seen are in the document.

const ROW = 24;
const MOST_HEIGHT = 8_000_000; // browsers draw nothing beyond some ten million pixels
const MOST_TEXT = 400;
const MOST_WIDTH = 60; // characters of a column

export function valueText(value) {
  if (value === null) return "NULL";
  if (typeof value === "object") return `${value.cut}… (${value.bytes.toLocaleString("en-US")} bytes)`;
  if (Object.is(value, -0)) return "-0";
  return String(value);
}

const isNumber = (type) => /^(int|float|numeric|oid)/.test(type);

/** Shows `result` {columns, rows} in `host`. Call `grow()` of what it returns when rows have come. */
export function showTable(host, result) {
  host.replaceChildren();
  const frame = document.createElement("div");
  frame.className = "table-frame";
  frame.tabIndex = 0;
  frame.setAttribute("role", "table");
  frame.setAttribute("aria-label", "rows of the result");
  const head = document.createElement("div");
  head.className = "table-head";
  head.setAttribute("role", "row");
  const space = document.createElement("div");
  space.className = "table-space";
  space.setAttribute("role", "rowgroup");
  frame.append(head, space);
  host.append(frame);

  // Columns are as wide as what was seen of them.
  const widths = result.columns.map(({ name }) => Math.min(Math.max(name.length, 4), MOST_WIDTH));
  let grid = "";
  const widen = (begin, end) => {
    for (let n = begin; n < end; ++n)
      result.rows[n].forEach((value, at) => (widths[at] = Math.max(widths[at], Math.min(valueText(value).length, MOST_WIDTH))));
    const number = Math.max(result.rows.length.toLocaleString("en-US").length, 3) + 2;
    grid = `${number}ch ${widths.map((width) => `${width + 2}ch`).join(" ")}`;
    head.style.gridTemplateColumns = grid;
  };
  const fill = (element, cells, role) => {
    element.style.gridTemplateColumns = grid;
    element.append(...cells.map(([text, className, title]) => {
      const cell = document.createElement("div");
      cell.setAttribute("role", role);
      cell.className = className;
      cell.textContent = text;
      if (title) cell.title = title;
      return cell;
    }));
  };
  fill(head, [["", "number"], ...result.columns.map(({ name, type }) => [name, isNumber(type) ? "value number" : "value", type])], "columnheader");

  let shown = [-1, -1, -1];
  const draw = () => {
    const count = result.rows.length;
    const full = count * ROW;
    const height = Math.min(full, MOST_HEIGHT);
    const scale = full > height ? (full - frame.clientHeight) / Math.max(1, height - frame.clientHeight) : 1;
    const top = frame.scrollTop * scale;
    const begin = Math.max(0, Math.floor(top / ROW) - 10);
    const end = Math.min(count, Math.ceil((top + frame.clientHeight) / ROW) + 10);
    if (shown[0] === begin && shown[1] === end && shown[2] === count) return;
    shown = [begin, end, count];
    widen(begin, end);
    space.style.height = `${height}px`;
    frame.setAttribute("aria-rowcount", count + 1);
    const rows = [];
    for (let n = begin; n < end; ++n) {
      const row = document.createElement("div");
      row.className = "table-row";
      row.setAttribute("role", "row");
      row.setAttribute("aria-rowindex", n + 2);
      row.style.top = `${n * ROW - top + frame.scrollTop}px`;
      fill(row, [[(n + 1).toLocaleString("en-US"), "number soft"], ...result.rows[n].map((value, at) => {
        const text = valueText(value);
        const kind = value === null ? "value soft" : isNumber(result.columns[at].type) ? "value number" : "value";
        return [text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text, kind, text.length > 40 ? text.slice(0, 4000) : ""];
      })], "cell");
      rows.push(row);
    }
    space.replaceChildren(...rows);
  };
  frame.addEventListener("scroll", draw, { passive: true });
  const watcher = new ResizeObserver(draw);
  watcher.observe(frame);
  draw();
  return { grow: draw, end: () => watcher.disconnect() };
}
