// Results as pictures on a canvas: heat map, line, histogram, image. A sentence beside says the same, for
// those who do not see them, and under the pointer or the arrow keys.

const format = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : Number(value.toPrecision(6)).toString());

export const numberOf = (value) => {
  if (typeof value === "number") return value;
  if (typeof value === "string") return value === "Infinity" ? Infinity : value === "-Infinity" ? -Infinity : Number(value === "" ? NaN : value);
  return NaN;
};

/** The rows of a result as the cells of an array, of extents that are `known` if the rows are all of a tensor's: {extents, labels, values (Float64Array), filled, least, greatest}. */
export function arrayOf(result, known) {
  const { columns, rows } = result;
  const isInteger = (column) => /^int|^oid/.test(column.type);
  const isNumeric = (column) => /^(int|float|numeric)/.test(column.type);
  let rank = 0;
  while (rank < columns.length - 1 && isInteger(columns[rank])) ++rank;
  const at = columns.findIndex((column, n) => n >= Math.min(rank, columns.length - 1) && isNumeric(column));
  if (at < 0 || rows.length === 0) return null;
  if (known && rows.length === known.reduce((product, extent) => product * extent, 1)) {
    const values = Float64Array.from(rows, (row) => numberOf(row[columns.length > known.length ? known.length : at]));
    return measured({ extents: known, labels: columns.slice(0, known.length).map((column) => column.name), values, name: "value" });
  }
  rank = Math.min(rank, at);
  const extents = new Array(rank).fill(0);
  for (const row of rows)
    for (let n = 0; n < rank; ++n) {
      const index = row[n];
      if (typeof index !== "number" || index < 0) return series(result, at);
      if (index >= extents[n]) extents[n] = index + 1;
    }
  const size = extents.reduce((product, extent) => product * extent, 1);
  if (rank === 0 || size > 4e7 || size > 64 * rows.length + 4096) return series(result, at);
  const values = new Float64Array(size).fill(NaN);
  for (const row of rows) {
    let place = 0;
    for (let n = 0; n < rank; ++n) place = place * extents[n] + row[n];
    values[place] = numberOf(row[at]);
  }
  return measured({ extents, labels: columns.slice(0, rank).map((column) => column.name), values, name: columns[at].name });
}

function series(result, at) {
  const values = Float64Array.from(result.rows, (row) => numberOf(row[at]));
  return measured({ extents: [values.length], labels: ["row"], values, name: result.columns[at].name });
}

function measured(array) {
  let [least, greatest, finite] = [Infinity, -Infinity, 0];
  for (const value of array.values) {
    if (!Number.isFinite(value)) continue;
    ++finite;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  return { ...array, least, greatest, finite };
}

// Viridis, by a few of its colours; it can be read without colour vision and in grey.
const COLOURS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [109, 205, 89], [180, 222, 44], [253, 231, 37]];
function colourOf(share) {
  const at = Math.min(Math.max(share, 0), 1) * (COLOURS.length - 1);
  const n = Math.min(Math.floor(at), COLOURS.length - 2);
  return COLOURS[n].map((part, k) => Math.round(part + (COLOURS[n + 1][k] - part) * (at - n)));
}

const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function begin(host, height, name) {
  const figure = document.createElement("figure");
  const canvas = document.createElement("canvas");
  const caption = document.createElement("figcaption");
  caption.setAttribute("aria-live", "polite");
  figure.append(canvas, caption);
  host.append(figure);
  const width = Math.max(300, Math.min(host.clientWidth - 24, 1400));
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", name);
  canvas.tabIndex = 0;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.font = "12px system-ui, sans-serif";
  return { canvas, caption, context, width, height };
}

function summary(array) {
  const shape = array.extents.map((extent, n) => `${array.labels[n]} ${extent.toLocaleString("en-US")}`).join(", ");
  const other = array.values.length - array.finite;
  return `${array.name} over ${shape}: from ${format(array.least)} to ${format(array.greatest)}` +
    (other ? `; ${other.toLocaleString("en-US")} cells are missing or not finite` : "");
}

// The last two dimensions; those before them are laid one below the other.
function planeOf(array) {
  const rank = array.extents.length;
  if (rank === 1) {
    const columns = Math.ceil(Math.sqrt(array.extents[0]));
    return array.extents[0] <= 64 ? { rows: 1, columns: array.extents[0] } : { rows: Math.ceil(array.extents[0] / columns), columns };
  }
  const columns = array.extents[rank - 1];
  return { rows: array.values.length / columns, columns };
}

/** With `grey` an image: cells as grey, or as red, green and blue where the last dimension has three. */
export function heatMap(host, array, { grey = false, offset = [0, 0], step = [1, 1] } = {}) {
  const coloured = grey && array.extents.length >= 3 && array.extents.at(-1) === 3;
  const plane = coloured ? { rows: array.extents.at(-3), columns: array.extents.at(-2) } : planeOf(array);
  const range = array.greatest - array.least || 1;
  const cells = new ImageData(plane.columns, plane.rows);
  for (let n = 0; n < plane.rows * plane.columns; ++n) {
    const share = (value) => (value - array.least) / range;
    const value = array.values[coloured ? 3 * n : n];
    let colour;
    if (coloured) colour = [0, 1, 2].map((k) => Math.round(255 * share(array.values[3 * n + k])));
    else if (grey) colour = new Array(3).fill(Math.round(255 * share(value)));
    else colour = value === Infinity ? [255, 60, 60] : value === -Infinity ? [80, 80, 255] : colourOf(share(value));
    cells.data.set([...colour, Number.isNaN(value) || value === undefined ? 0 : 255], 4 * n);
  }
  const wide = Math.max(300, Math.min(host.clientWidth - 24, 1400)) - 80;
  const size = Math.max(Math.min(wide / plane.columns, Math.max(160, Math.min(host.clientHeight - 80, 640)) / plane.rows, 28), 0.02);
  const [width, height] = [Math.max(plane.columns * size, 1), Math.max(plane.rows * size, 1)];
  const { canvas, caption, context } = begin(host, height + 34, `${grey ? "image" : "heat map"} of ${summary(array)}`);
  const source = new OffscreenCanvas(plane.columns, plane.rows);
  source.getContext("2d").putImageData(cells, 0, 0);
  context.imageSmoothingEnabled = size < 1;
  context.strokeStyle = ink("--line");
  context.strokeRect(0.5, 0.5, width + 1, height + 1);
  context.drawImage(source, 1, 1, width, height);
  context.fillStyle = ink("--soft");
  if (!grey) {
    for (let x = 0; x < 160; ++x) {
      context.fillStyle = `rgb(${colourOf(x / 160).join(" ")})`;
      context.fillRect(1 + x, height + 12, 1, 10);
    }
    context.fillStyle = ink("--soft");
    context.fillText(`${format(array.least)} to ${format(array.greatest)}`, 170, height + 21);
  }
  let at = [0, 0];
  const tell = ([row, column]) => {
    at = [Math.min(Math.max(row, 0), plane.rows - 1), Math.min(Math.max(column, 0), plane.columns - 1)];
    const n = at[0] * plane.columns + at[1];
    let rest = coloured ? 3 * n : n;
    const indices = array.extents.map((extent) => extent).reverse().map((extent) => {
      const index = rest % extent;
      rest = Math.floor(rest / extent);
      return index;
    }).reverse();
    const shift = array.extents.length === 2 ? indices.map((index, k) => offset[k] + index * step[k]) : indices;
    const value = array.values[coloured ? 3 * n : n];
    caption.textContent = `${array.name}[${shift.join(", ")}] = ${value === undefined || Number.isNaN(value) ? "nothing, or NaN" : format(value)}`;
  };
  const quiet = () => (caption.textContent = summary(array));
  quiet();
  canvas.addEventListener("pointermove", (event) => tell([Math.floor((event.offsetY - 1) / size), Math.floor((event.offsetX - 1) / size)]));
  canvas.addEventListener("pointerleave", quiet);
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!moves[event.key]) return;
    event.preventDefault();
    tell([at[0] + moves[event.key][0], at[1] + moves[event.key][1]]);
  });
}

function axes({ context, width, height }, least, greatest, left, right, mark = () => {}) {
  const box = { x: 70, y: 10, width: width - 84, height: height - 44 };
  context.strokeStyle = ink("--line");
  context.strokeRect(box.x, box.y, box.width, box.height);
  context.fillStyle = ink("--soft");
  context.textAlign = "right";
  for (let n = 0; n <= 4; ++n) {
    const y = box.y + (box.height * n) / 4;
    const value = greatest - ((greatest - least) * n) / 4;
    const unit = (greatest - least) / 1e4; // what is beyond this cannot be seen
    context.fillText(format(Number((unit > 0 ? Math.round(value / unit) * unit : value).toPrecision(5))), box.x - 6, y + 4);
    context.globalAlpha = 0.4;
    context.beginPath();
    context.moveTo(box.x, y);
    context.lineTo(box.x + box.width, y);
    context.stroke();
    context.globalAlpha = 1;
  }
  context.textAlign = "left";
  context.fillText(left, box.x, box.y + box.height + 18);
  context.textAlign = "right";
  context.fillText(right, box.x + box.width, box.y + box.height + 18);
  context.textAlign = "left";
  mark(box);
  return box;
}

/** A line for each row of the last dimension, up to eight. Where there are more cells than pixels, from least to greatest. */
export function linePlot(host, array) {
  const length = array.extents.at(-1);
  const lines = Math.min(array.values.length / length, 8);
  const drawing = begin(host, 360, `lines of ${summary(array)}`);
  const { context, canvas, caption } = drawing;
  const range = array.greatest - array.least || 1;
  const box = axes(drawing, array.least, array.least + range, `${array.labels.at(-1)} 0`, String(length - 1));
  const y = (value) => box.y + box.height * (1 - (value - array.least) / range);
  for (let line = 0; line < lines; ++line) {
    context.strokeStyle = ink(`--series-${line % 4}`);
    context.setLineDash(line < 4 ? [] : [6, 3]);
    context.lineWidth = 1.5;
    context.beginPath();
    const most = Math.min(length, Math.floor(box.width));
    let pen = false;
    for (let n = 0; n < most; ++n) {
      const [from, to] = [Math.floor((n * length) / most), Math.max(Math.floor(((n + 1) * length) / most), Math.floor((n * length) / most) + 1)];
      let [low, high] = [Infinity, -Infinity];
      for (let k = from; k < to; ++k) {
        const value = array.values[line * length + k];
        if (!Number.isFinite(value)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      if (high < low) {
        pen = false;
        continue;
      }
      const x = box.x + (most === 1 ? box.width / 2 : (box.width * n) / (most - 1));
      if (pen) context.lineTo(x, y(low));
      else context.moveTo(x, y(low));
      if (high > low) context.lineTo(x, y(high));
      pen = true;
    }
    context.stroke();
  }
  context.setLineDash([]);
  const all = array.values.length / length;
  const quiet = () => (caption.textContent = summary(array) + (all > lines ? `; the first ${lines} of ${all.toLocaleString("en-US")} lines` : ""));
  quiet();
  let at = 0;
  const tell = (n) => {
    at = Math.min(Math.max(n, 0), length - 1);
    const values = Array.from({ length: lines }, (_, line) => array.values[line * length + at]);
    caption.textContent = `${array.labels.at(-1)} ${at}: ${values.map((value) => (Number.isNaN(value) ? "nothing, or NaN" : format(value))).join(", ")}`;
  };
  canvas.addEventListener("pointermove", (event) => tell(Math.round(((event.offsetX - box.x) / box.width) * (length - 1))));
  canvas.addEventListener("pointerleave", quiet);
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    tell(at + (event.key === "ArrowLeft" ? -1 : 1));
  });
}

export function histogram(host, array) {
  const bins = Math.max(1, Math.min(60, Math.ceil(Math.sqrt(array.finite))));
  const counts = new Array(bins).fill(0);
  const range = array.greatest - array.least || 1;
  for (const value of array.values)
    if (Number.isFinite(value)) ++counts[Math.min(Math.floor(((value - array.least) / range) * bins), bins - 1)];
  const most = Math.max(...counts, 1);
  const drawing = begin(host, 320, `histogram of ${summary(array)}`);
  const { context, canvas, caption } = drawing;
  const box = axes(drawing, 0, most, format(array.least), format(array.least + range));
  context.fillStyle = ink("--series-0");
  counts.forEach((count, n) => {
    const height = (box.height * count) / most;
    context.fillRect(box.x + (box.width * n) / bins + 0.5, box.y + box.height - height, box.width / bins - 1, height);
  });
  const quiet = () => (caption.textContent = `${summary(array)}; ${bins} bars`);
  quiet();
  let at = 0;
  const tell = (n) => {
    at = Math.min(Math.max(n, 0), bins - 1);
    const edge = (k) => format(array.least + (range * k) / bins);
    caption.textContent = `from ${edge(at)} to ${edge(at + 1)}: ${counts[at].toLocaleString("en-US")} cells`;
  };
  canvas.addEventListener("pointermove", (event) => tell(Math.floor(((event.offsetX - box.x) / box.width) * bins)));
  canvas.addEventListener("pointerleave", quiet);
  canvas.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    tell(at + (event.key === "ArrowLeft" ? -1 : 1));
  });
}
