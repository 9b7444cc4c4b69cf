// The picture of a plan, from what EXPLAIN (FORMAT json) gives. Plain JavaScript and SVG without any library, since
// EXPLAIN (FORMAT html) puts this file into each page as it is; the console uses the same file.
//
//   EindbPlan.draw(element, plan)    fills `element` with the picture, buttons for its size, and details
//
// Operators of a plan for one process, or steps of one for workers, are boxes in layers: what a box reads lies above it.
// A box that computes a vertex has the vertex's partition vector and a drawing of its cuts. The hot path is the chain of
// boxes, from a source to the end, that takes longest in all.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 250;
  const GAP_X = 36;
  const GAP_Y = 56;
  const LINE = 16;
  const BESIDE_CUTS = 27; // characters
  const MOST_BOXES = 2000;
  const MOST_CUTS = 16; // of a side of the drawing

  // ---- Texts ------------------------------------------------------------------------------------------------------

  function seconds(value) {
    if (value === undefined || value === null) return "";
    if (value === 0) return "0 s";
    if (value < 1e-3) return `${(value * 1e6).toPrecision(3)} µs`;
    if (value < 1) return `${(value * 1e3).toPrecision(3)} ms`;
    return `${value.toPrecision(4)} s`;
  }

  function count(value) {
    return typeof value === "number" ? value.toLocaleString("en-US") : String(value);
  }

  function bytes(value) {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; value >= 1024 && unit < units.length - 1; ++unit) value /= 1024;
    return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
  }

  function shortened(text, most) {
    const characters = [...text];
    return characters.length <= most ? text : `${characters.slice(0, most - 1).join("")}…`;
  }

  // ---- The graph --------------------------------------------------------------------------------------------------

  // Boxes {id, inputs, name, vertex, computed, seconds, actual, node}, in the plan's order.
  function boxesOf(plan) {
    const inputs = new Map((plan.inputs ?? []).map((input) => [input.tensor, input]));
    const nodes = plan.operators?.length ? plan.operators : (plan.steps ?? []);
    return nodes.slice(0, MOST_BOXES).map((node) => {
      const name = node.operator ?? node.step;
      const computed = node.computes === undefined ? undefined : plan.vertices?.[node.computes];
      const actual = node.actual_seconds ?? node.seconds;
      return {
        id: node.id,
        reads: node.inputs ?? [],
        name,
        vertex: node.vertex,
        computed,
        input: name === "scan" ? inputs.get(node.vertex) : undefined,
        actual,
        cost: actual ?? computed?.predicted_seconds ?? 0,
        node,
      };
    });
  }

  // Sets layer, heaviest (the time of the longest way to the box) and hot of all boxes. Inputs have lower numbers.
  function findWays(boxes) {
    const byId = new Map(boxes.map((box) => [box.id, box]));
    let last;
    for (const box of boxes) {
      box.inputs = box.reads.map((id) => byId.get(id)).filter((input) => input !== undefined && input !== box);
      box.layer = 0;
      box.heaviest = box.cost;
      for (const input of box.inputs) {
        box.layer = Math.max(box.layer, (input.layer ?? 0) + 1);
        if ((input.heaviest ?? 0) + box.cost > box.heaviest) {
          box.heaviest = input.heaviest + box.cost;
          box.before = input;
        }
      }
      if (!last || box.heaviest > last.heaviest || (box.heaviest === last.heaviest && box.before === last)) last = box;
    }
    if (last?.heaviest > 0) for (let box = last; box; box = box.before) box.hot = true;
  }

  // A box lies below the mean of its inputs, as far as its neighbours leave room.
  function placeBoxes(boxes) {
    const layers = [];
    for (const box of boxes) (layers[box.layer] ??= []).push(box);
    let y = 0;
    let width = 0;
    for (const layer of layers) {
      const wanted = (box) => {
        const places = box.inputs.map((input) => input.x);
        return places.length ? places.reduce((sum, x) => sum + x, 0) / places.length : undefined;
      };
      const order = layer.map((box, at) => ({ box, at: wanted(box) ?? at * (WIDTH + GAP_X) }));
      order.sort((a, b) => a.at - b.at);
      let next = 0;
      for (const { box, at } of order) {
        box.x = Math.max(next, at);
        box.y = y;
        next = box.x + WIDTH + GAP_X;
        width = Math.max(width, box.x + WIDTH);
      }
      y += Math.max(...layer.map((box) => box.height)) + GAP_Y;
    }
    return { width: Math.max(width, WIDTH), height: Math.max(y - GAP_Y, LINE) };
  }

  function partitionText(partition) {
    const labels = Object.entries(partition ?? {});
    return labels.length ? labels.map(([label, parts]) => `${label}:${parts}`).join(" ") : "-";
  }

  function describe(box) {
    const lines = [];
    if (box.computed) {
      lines.push(shortened(box.computed.einsum, BESIDE_CUTS));
      lines.push(shortened(`parts ${partitionText(box.computed.partition)}`, BESIDE_CUTS));
    } else if (box.input) {
      lines.push(`${box.input.type} [${box.input.bound.join(", ")}]`);
    }
    // The times of a vertex cover its join, its aggregation and the repartitions made for it.
    const { predicted_seconds: predicted, actual_seconds: took, kernel_calls: calls } = box.computed ?? {};
    if (predicted !== undefined) lines.push(`predicted ${seconds(predicted)}`);
    if (took !== undefined) lines.push(`took ${seconds(took)}, ${count(calls)} calls`);
    else if (box.actual > 0) lines.push(`took ${seconds(box.actual)}`);
    if (box.node.bytes > 0) lines.push(`${bytes(box.node.bytes)} received`);
    if (box.node.placement) lines.push(shortened(box.node.placement, 36));
    return lines;
  }

  // ---- Drawing ----------------------------------------------------------------------------------------------------

  function make(parent, name, attributes = {}, text) {
    const element = parent.ownerDocument.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  }

  function makeHtml(parent, name, className, text) {
    const element = parent.ownerDocument.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  }

  // The tiles of the last two dimensions; those before them lie behind each other.
  function drawCuts(parent, grid, x, y) {
    const size = 44;
    const [rows, columns] = grid.length === 0 ? [1, 1] : grid.length === 1 ? [1, grid[0]] : grid.slice(-2);
    const behind = grid.slice(0, -2).reduce((product, parts) => product * parts, 1);
    const group = make(parent, "g", { class: "cuts" });
    for (let n = Math.min(behind, 3) - 1; n >= 1; --n)
      make(group, "rect", { x: x + 3 * n, y: y - 3 * n, width: size, height: size, class: "tile" });
    make(group, "rect", { x, y, width: size, height: size, class: "tile" });
    const cut = (parts, draw) => {
      const shown = Math.min(parts, MOST_CUTS);
      for (let n = 1; n < shown; ++n) draw((size * n) / shown);
    };
    cut(rows, (at) => make(group, "line", { x1: x, x2: x + size, y1: y + at, y2: y + at, class: "cut" }));
    cut(columns, (at) => make(group, "line", { x1: x + at, x2: x + at, y1: y, y2: y + size, class: "cut" }));
  }

  function drawBox(parent, box, total) {
    const share = total > 0 ? box.cost / total : 0;
    const title = shortened(`${box.name} ${box.vertex}`, 24);
    const group = make(parent, "g", {
      class: `box ${box.name}${box.hot ? " hot" : ""}`,
      transform: `translate(${box.x} ${box.y})`,
      tabindex: 0,
      role: "button",
      "aria-label": [title, ...box.lines, ...(box.hot ? ["on the hot path"] : [])].join(" "),
    });
    make(group, "rect", { width: WIDTH, height: box.height, rx: 6, class: "frame" });
    if (share > 0) make(group, "rect", { y: box.height - 5, width: Math.max(2, WIDTH * share), height: 5, rx: 2, class: "share" });
    make(group, "text", { x: 10, y: LINE + 3, class: "name" }, title);
    box.lines.forEach((line, n) => {
      group.append(" ");
      make(group, "text", { x: 10, y: LINE * (n + 2) + 5, class: "line" }, line);
    });
    const grid = box.node.grid;
    if (Array.isArray(grid)) drawCuts(group, grid, WIDTH - 54, 10);
    return group;
  }

  function drawEdges(parent, boxes) {
    for (const box of boxes) {
      for (const input of box.inputs) {
        const [x1, y1] = [input.x + WIDTH / 2, input.y + input.height];
        const [x2, y2] = [box.x + WIDTH / 2, box.y];
        const middle = (y1 + y2) / 2;
        const hot = box.hot && box.before === input ? " hot" : "";
        make(parent, "path", { d: `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`, class: `edge${hot}` });
      }
    }
  }

  // ---- Details ----------------------------------------------------------------------------------------------------

  const TEXTS = {
    actual_seconds: seconds,
    seconds,
    seconds_waiting: seconds,
    predicted_seconds: seconds,
    planning_seconds: seconds,
    execution_seconds: seconds,
    predicted_peak_bytes: bytes,
    peak_bytes: bytes,
    bytes,
    actual_bytes: bytes,
    bytes_by_busiest: bytes,
    partition: (value) => (Array.isArray(value) ? `[${value.join(", ")}]` : partitionText(value)),
  };

  function fieldText(key, value) {
    if (typeof value === "number" && TEXTS[key]) return TEXTS[key](value);
    if (key === "partition") return TEXTS.partition(value);
    if (typeof value === "number") return count(value);
    if (Array.isArray(value)) return value.every((item) => typeof item !== "object") ? `[${value.join(", ")}]` : JSON.stringify(value);
    return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  }

  function showFields(parent, title, object, without = []) {
    makeHtml(parent, "h3", "", title);
    const list = makeHtml(parent, "dl");
    for (const [key, value] of Object.entries(object)) {
      if (without.includes(key)) continue;
      makeHtml(list, "dt", "", key.replaceAll("_", " "));
      makeHtml(list, "dd", "", fieldText(key, value));
    }
  }

  function showPlan(details, plan) {
    details.replaceChildren();
    const own = Object.fromEntries(
      Object.entries(plan).filter(([, value]) => typeof value !== "object" || value === null),
    );
    showFields(details, "The plan", own);
    if (plan.path) showFields(details, "Order of contractions", plan.path, ["methods"]);
    if (Array.isArray(plan.ranks)) {
      makeHtml(details, "h3", "", "Workers");
      const table = makeHtml(details, "table");
      const head = makeHtml(table, "tr");
      for (const name of ["worker", "computed", "waited", "sent", "received"]) makeHtml(head, "th", "", name);
      for (const rank of plan.ranks) {
        const row = makeHtml(table, "tr");
        for (const text of [rank.worker, seconds(rank.seconds), seconds(rank.seconds_waiting), bytes(rank.bytes_sent),
          bytes(rank.bytes_received)]) makeHtml(row, "td", "", text);
      }
    }
  }

  function showBox(details, box) {
    details.replaceChildren();
    showFields(details, `${box.name} ${box.vertex}`, box.node, ["operator", "step", "vertex"]);
    if (box.computed) showFields(details, `Vertex ${box.vertex}`, box.computed, ["vertex"]);
    if (box.input) showFields(details, `Tensor ${box.vertex}`, box.input, ["tensor"]);
  }

  // ---- The picture ------------------------------------------------------------------------------------------------

  function draw(element, plan) {
    element.replaceChildren();
    element.classList.add("eindb-plan");
    const boxes = boxesOf(plan);
    findWays(boxes);
    for (const box of boxes) {
      box.lines = describe(box);
      box.height = Math.max(64, LINE * (box.lines.length + 1) + 18);
    }
    const size = placeBoxes(boxes);

    const bar = makeHtml(element, "div", "plan-bar");
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", "size of the picture");
    const body = makeHtml(element, "div", "plan-body");
    const svg = make(body, "svg", { class: "plan-svg", role: "group", tabindex: 0, "aria-label": `plan of ${boxes.length} boxes` });
    const details = makeHtml(body, "aside", "plan-details");
    details.setAttribute("aria-live", "polite");
    details.setAttribute("aria-label", "details");
    details.tabIndex = 0; // it scrolls

    const total = boxes.reduce((sum, box) => sum + box.cost, 0);
    drawEdges(svg, boxes);
    let chosen;
    const choose = (box) => {
      chosen?.drawn.classList.remove("chosen");
      chosen?.drawn.setAttribute("aria-pressed", "false");
      chosen = box;
      if (!box) return showPlan(details, plan);
      box.drawn.classList.add("chosen");
      box.drawn.setAttribute("aria-pressed", "true");
      showBox(details, box);
    };
    for (const box of boxes) {
      box.drawn = drawBox(svg, box, total);
      box.drawn.addEventListener("click", (event) => {
        event.stopPropagation();
        choose(box);
      });
      box.drawn.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose(box);
      });
    }
    showPlan(details, plan);

    const whole = { x: -20, y: -20, width: size.width + 40, height: size.height + 40 };
    let view = { ...whole };
    const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    const zoom = (factor, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
      const bounded = Math.min(Math.max(view.width * factor, 80), whole.width * 4) / view.width;
      view = {
        x: x - (x - view.x) * bounded,
        y: y - (y - view.y) * bounded,
        width: view.width * bounded,
        height: view.height * bounded,
      };
      show();
    };
    const fit = () => {
      view = { ...whole };
      show();
    };
    fit();
    // A small plan is not blown up to the width of the page.
    const least = 640;
    if (view.width < least) {
      view.x -= (least - view.width) / 2;
      view.width = least;
      whole.x = view.x;
      whole.width = least;
      show();
    }

    for (const [text, name, act] of [
      ["+", "larger", () => zoom(0.8)],
      ["−", "smaller", () => zoom(1.25)],
      ["Whole", "the whole plan", fit],
    ]) {
      const button = makeHtml(bar, "button", "", text);
      button.type = "button";
      button.setAttribute("aria-label", name);
      button.addEventListener("click", act);
    }
    const legend = makeHtml(bar, "span", "plan-legend");
    makeHtml(legend, "span", "swatch-hot", "");
    legend.append(plan.execution_seconds === undefined ? "hot path, as predicted" : "hot path, as measured");
    const predicted = plan.predicted_seconds === undefined ? "" : `predicted ${seconds(plan.predicted_seconds)}`;
    const took = plan.execution_seconds === undefined ? "" : `, took ${seconds(plan.execution_seconds)}`;
    makeHtml(bar, "span", "plan-times", predicted + took);

    const point = (event) => {
      const place = svg.getBoundingClientRect();
      const scale = Math.max(view.width / place.width, view.height / place.height);
      const left = view.x - (place.width * scale - view.width) / 2;
      const top = view.y - (place.height * scale - view.height) / 2;
      return { x: left + (event.clientX - place.left) * scale, y: top + (event.clientY - place.top) * scale, scale };
    };
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const at = point(event);
      zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, at.x, at.y);
    }, { passive: false });
    let from;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button === 0) from = { x: event.clientX, y: event.clientY, view: { ...view }, moved: false };
    });
    svg.addEventListener("pointermove", (event) => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.moved && Math.hypot(dx, dy) < 4) return;
      if (!from.moved) svg.setPointerCapture(event.pointerId);
      from.moved = true;
      const { scale } = point(event);
      view.x = from.view.x - dx * scale;
      view.y = from.view.y - dy * scale;
      show();
    });
    const release = () => {
      if (from && !from.moved) choose(undefined);
      from = undefined;
    };
    svg.addEventListener("pointerup", (event) => {
      if (event.target.closest?.(".box") && !from?.moved) from = undefined;
      else release();
    });
    svg.addEventListener("pointercancel", () => (from = undefined));
    svg.addEventListener("keydown", (event) => {
      if (event.target !== svg) return;
      const step = view.width / 10;
      const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (event.key === "+" || event.key === "=") zoom(0.8);
      else if (event.key === "-") zoom(1.25);
      else if (event.key === "0") fit();
      else if (moves[event.key]) {
        view.x += moves[event.key][0];
        view.y += moves[event.key][1];
        show();
      } else return;
      event.preventDefault();
    });
  }

  globalThis.EindbPlan = { draw, seconds, bytes, count };
})();
