// Tries the console in Chromium: node test/browser_test.mjs EINDB [FOLDER], where FOLDER gets screenshots.
// Waits for conditions, never for fixed times.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const EINDB = resolve(process.argv[2] ?? "build/eindb");
const SHOTS = resolve(process.argv[3] ?? "build/browser");
const ONLY = process.argv[4];
const WAIT = 120_000;
const here = dirname(fileURLToPath(import.meta.url));
mkdirSync(SHOTS, { recursive: true });

const SCRIPT = `
CREATE TENSOR A AS EINSUM A[i 600, j 500] = SIN(i * 0.02) * COS(j * 0.03);
CREATE TENSOR B AS EINSUM B[j 500, k 400] = CAST(j - k AS FLOAT32) / 100;
CREATE TENSOR wave AS EINSUM wave[t 2000] = SIN(t * 0.01) + 0.2 * COS(t * 0.17);
CREATE TENSOR diagonal AS EINSUM diagonal[i 1000, j 1000] = CASE WHEN i = j THEN 1.5 ELSE 0 END;
CREATE TENSOR big AS EINSUM big[row 10000, col 10000] = CAST(row - col AS FLOAT32);
CREATE TENSOR volume AS EINSUM volume[x 4, y 30, z 40] = x + y * z;
CREATE TABLE sales (name TEXT, price REAL, sold INTEGER);
INSERT INTO sales VALUES ('a', 1.5, 9007199254740993), ('<b>', NULL, 2);
CREATE USER ada PASSWORD 'one' ADMIN;
`;
const ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c";

// Waits for a line of a program's output, and returns the number in it.
function portOf(program, pattern) {
  let said = "";
  return new Promise((found, failed) => {
    program.stdout.on("data", (piece) => {
      said += piece;
      const match = pattern.exec(said);
      if (match) found(Number(match[1]));
    });
    program.stderr.on("data", (piece) => process.stderr.write(piece));
    program.on("exit", () => failed(new Error(`a program has ended: ${said}`)));
  });
}

const ended = (program) => new Promise((done) => {
  program.on("exit", done);
  program.kill("SIGTERM");
});

// A server with two workers: {url, stop}.
async function startCluster() {
  const folder = mkdtempSync(join(tmpdir(), "eindb-browser-"));
  const workers = ["a", "b"].map((name) => spawn(EINDB, ["worker", "--listen", "127.0.0.1:0", "--data", join(folder, name), "--insecure"]));
  const ports = await Promise.all(workers.map((worker) => portOf(worker, /listening on port (\d+)/)));
  const options = ["--insecure", "--workers", ports.map((port) => `127.0.0.1:${port}`).join(",")];
  const process_ = spawn(EINDB, ["serve", join(folder, "c.db"), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", ...options]);
  const url = `http://127.0.0.1:${await portOf(process_, /http on port (\d+)/)}/`;
  const stop = async () => {
    await ended(process_);
    await Promise.all(workers.map(ended));
    rmSync(folder, { recursive: true });
  };
  return { url, stop };
}

async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), "eindb-browser-"));
  const database = join(folder, "shop.db");
  const made = spawnSync(EINDB, [database], { input: SCRIPT, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const process_ = spawn(EINDB, ["serve", database, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--log-level", "error"]);
  const port = await portOf(process_, /http on port (\d+)/);
  const stop = async () => {
    const code = await ended(process_);
    rmSync(folder, { recursive: true });
    return code;
  };
  return { url: `http://127.0.0.1:${port}/`, stop, folder, database };
}

const server = await startServer();
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  protocolTimeout: WAIT,
});
const page = await browser.newPage();
page.setDefaultTimeout(WAIT);
await page.setViewport({ width: 1280, height: 860 });
await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
const problems = [];
const outside = [];
page.on("pageerror", (error) => problems.push(String(error)));
page.on("console", (message) => {
  if (message.type() === "error" && !/status of (401|409)/.test(message.text())) problems.push(message.text());
});
page.on("request", (request) => {
  if (!request.url().startsWith("http://127.0.0.1:") && !/^(data|blob):/.test(request.url())) outside.push(request.url());
});

const shot = (name) => page.screenshot({ path: join(SHOTS, `${name}.png`) });
const text = (selector) => page.$eval(selector, (element) => element.textContent);
const until = (f, ...more) => page.waitForFunction(f, { polling: 50 }, ...more);
const ready = () => until(() => document.documentElement.dataset.ready === "true");
const idle = () => until(() => !document.getElementById("run").disabled);

async function setText(wanted) {
  await page.evaluate(() => document.querySelector("#editor").shadowRoot.querySelector(".cm-content").focus());
  await page.keyboard.down("Control");
  await page.keyboard.press("KeyA");
  await page.keyboard.up("Control");
  await page.keyboard.press("Delete");
  await page.evaluate((value) => {
    const content = document.querySelector("#editor").shadowRoot.querySelector(".cm-content");
    content.focus();
    document.execCommand("insertText", false, value);
  }, wanted);
}

async function runText(wanted) {
  await setText(wanted);
  await page.click("#run");
  await idle();
}

async function show(way) {
  await page.evaluate((name) => [...document.querySelectorAll("#shows [role=radio]")].find((one) => one.textContent === name).click(), way);
}

const cells = () => page.$$eval(".table-row", (rows) => rows.map((row) => [...row.children].slice(1).map((cell) => cell.textContent)));

async function accessible(name) {
  await page.evaluate(readFileSync(join(here, "../node_modules/axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => html.slice(0, 160) + " " + (any[0]?.message ?? "")).join(" | ")}`);
  });
  assert.deepEqual(found, [], `${name} breaks rules of accessibility`);
}

const tests = {
  async "the page loads at once, from the server alone"() {
    await page.goto(server.url, { waitUntil: "load" });
    await ready();
    const times = await page.evaluate(() => {
      const entries = performance.getEntriesByType("resource");
      return { bytes: entries.reduce((sum, entry) => sum + entry.transferSize, 0), load: performance.timing.loadEventEnd - performance.timing.navigationStart };
    });
    console.log(`   loaded in ${times.load} ms, ${times.bytes} bytes`);
    assert.ok(times.bytes < 400_000, `${times.bytes} bytes`);
    await accessible("login");
    await shot("login-light");
  },

  async "a wrong password is refused, the right one lets in"() {
    await page.type("#user", "ada");
    await page.type("#password", "two");
    await page.keyboard.press("Enter");
    await until(() => document.getElementById("login-error").textContent !== "");
    assert.match(await text("#login-error"), /password authentication failed/);
    await page.$eval("#password", (input) => (input.value = ""));
    await page.type("#password", "one");
    await page.keyboard.press("Enter");
    await until(() => !document.getElementById("app").hidden);
    assert.match(await text("#who"), /ada/);
    const cookies = await page.cookies();
    assert.deepEqual(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite]), [[true, "Strict"]]);
    assert.equal(await page.evaluate(() => document.cookie), "");
  },

  async "tensors are listed with their shapes"() {
    await until(() => document.querySelectorAll("#side-tensors .card").length === 6);
    const all = await text("#side-tensors");
    assert.match(all, /diagonal/);
    assert.match(all, /row 10,000, col 10,000/);
    assert.match(all, /coordinates/);
    await accessible("the whole page");
  },

  async "a statement's rows are exact, and text is text"() {
    await runText("SELECT name, price, sold FROM sales ORDER BY name DESC");
    assert.deepEqual(await cells(), [["a", "1.5", "9007199254740993"], ["<b>", "NULL", "2"]]);
    await shot("table-light");
  },

  async "an error has its caret"() {
    await runText("SELECT 1;\nEINSUM Z[i] = SUM(Nope[i,j])");
    assert.match(await text("#error"), /Nope/);
    const caret = await text("#error pre");
    const [line, below] = caret.split("\n");
    assert.equal(line[below.indexOf("^")], "N");
    assert.ok(await page.evaluate(() => document.querySelector("#editor").shadowRoot.querySelector(".cm-lintRange-error") !== null));
    await accessible("an error");
    await shot("error-light");
  },

  async "tensors and labels are completed"() {
    await setText("EINSUM Z[i] = SUM(wa");
    await page.keyboard.type("v");
    await until(() => document.querySelector("#editor").shadowRoot.querySelector(".cm-tooltip-autocomplete") !== null);
    const options = await page.evaluate(() => document.querySelector("#editor").shadowRoot.querySelector(".cm-tooltip-autocomplete").textContent);
    assert.match(options, /wave\[t\]/);
    await shot("completion-light");
    await page.keyboard.press("Escape");
  },

  async "pictures of a result"() {
    await page.select("#rows", "1000000");
    await runText("EINSUM Z[i,j] = A[i,j]");
    for (const way of ["heat map", "line", "histogram", "image"]) {
      await show(way);
      await until(() => document.querySelector("#shown canvas") !== null);
      assert.match(await page.$eval("#shown canvas", (canvas) => canvas.getAttribute("aria-label")), /i 600, j 500/);
      await shot(`${way.replace(" ", "-")}-light`);
    }
    await runText("EINSUM Z[t] = wave[t]");
    await show("line");
    await accessible("a line");
    await shot("wave-light");
  },

  async "a million rows scroll"() {
    await runText("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x * 2 AS twice FROM c LIMIT 1000000");
    assert.match(await text("#status"), /1,000,000 rows/);
    assert.ok((await page.$$(".table-row")).length < 100);
    await page.$eval(".table-frame", (frame) => (frame.scrollTop = frame.scrollHeight));
    await until(() => [...document.querySelectorAll(".table-row")].some((row) => row.children[1].textContent === "1000000"));
    await shot("million-light");
    await page.select("#rows", "10000");
  },

  async "a statement that runs is shown, and is cancelled"() {
    await setText(ENDLESS);
    await page.click("#run");
    await until(() => !document.getElementById("cancel").disabled);
    await page.click("#tab-sessions");
    await until(() => [...document.querySelectorAll("#side-sessions .session")].some((item) => /active/.test(item.textContent) && /RECURSIVE/.test(item.textContent)));
    await until(() => /running/.test(document.getElementById("status").textContent));
    await shot("running-light");
    await page.click("#cancel");
    await idle();
    assert.match(await text("#error"), /cancelled/);
    await page.click("#tab-tensors");
  },

  async "progress is shown meanwhile"() {
    await setText("SET parallelism = 4096; EINSUM Z[i 200000] = SUM[j 200000](SIN(i * 0.1 + j))");
    await page.click("#run");
    await until(() => !document.getElementById("progress").hidden && /%/.test(document.getElementById("status").textContent));
    await shot("progress-light");
    await page.click("#cancel");
    await idle();
    assert.match(await text("#error"), /cancelled/);
    await runText("RESET parallelism");
  },

  async "a tensor of 10^8 cells does not freeze the page"() {
    await page.evaluate(() => {
      globalThis.longest = 0;
      let last = performance.now();
      globalThis.ticker = setInterval(() => {
        globalThis.longest = Math.max(globalThis.longest, performance.now() - last);
        last = performance.now();
      }, 10);
    });
    await page.evaluate(() => [...document.querySelectorAll("#side-tensors .card")].find((card) => /^\s*big/.test(card.textContent)).click());
    await until(() => document.querySelector(".tensor-picture[aria-busy=false] canvas") !== null);
    assert.match(await text(".tensor-picture figcaption"), /row 200, col 200/);
    await shot("big-light");
    await page.click("#results button[aria-label=right]");
    await until(() => /from -399 to -1/.test(document.querySelector(".tensor-picture[aria-busy=false] figcaption")?.textContent ?? ""));
    await page.click(".bar input[type=checkbox]");
    await until(() => /row 250, col 250/.test(document.querySelector(".tensor-picture[aria-busy=false] figcaption")?.textContent ?? ""));
    await accessible("a tensor");
    await shot("big-whole-light");
    await runText("EINSUM Z[row, col] = big[row, col]");
    assert.match(await text("#status"), /10,000 rows, and there are more/);
    const longest = await page.evaluate(() => globalThis.longest);
    console.log(`   the page was busy for ${Math.round(longest)} ms at most`);
  },

  async "the plan as a picture"() {
    await runText("SELECT 1;\n-- the plan; of this\nEINSUM Z[i,k] = SUM(Nope[i,j])");
    await page.click("#explain");
    await idle();
    assert.equal((await text("#error pre")).split("\n")[1].indexOf("^"), "EINSUM Z[i,k] = SUM(".length);
    await setText("DROP TENSOR diagonal;\nEINSUM Z[i,k] = SUM(A[i,j] * B[j,k]);\n");
    await page.click("#analyze");
    await idle();
    assert.match(await text("#side-tensors"), /diagonal/);
    await until(() => document.querySelectorAll(".eindb-plan .box").length >= 4);
    assert.ok((await page.$$(".eindb-plan .box.hot")).length >= 2);
    assert.ok((await page.$$(".eindb-plan .cut")).length >= 0);
    const label = await page.$eval(".eindb-plan .box.join", (box) => box.getAttribute("aria-label"));
    assert.match(label, /parts i:\d+ j:\d+ k:\d+/);
    assert.match(label, /predicted/);
    assert.match(label, /took/);
    const before = await page.$eval(".plan-svg", (svg) => svg.getAttribute("viewBox"));
    await page.click(".plan-bar button[aria-label=larger]");
    assert.notEqual(await page.$eval(".plan-svg", (svg) => svg.getAttribute("viewBox")), before);
    await page.click(".plan-bar button:nth-of-type(3)");
    await page.$eval(".eindb-plan .box.join", (box) => box.focus());
    await page.keyboard.press("Enter");
    assert.match(await text(".plan-details"), /kernel/);
    await accessible("a plan");
    await shot("plan-light");
  },

  async "the same in the dark"() {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await accessible("a plan in the dark");
    await shot("plan-dark");
    await runText("SELECT name, price, sold FROM sales");
    await accessible("a table in the dark");
    await shot("table-dark");
    await runText("EINSUM Z[t] = wave[t]");
    await show("line");
    await shot("wave-dark");
    await runText("EINSUM Z[i] = SUM(Nope[i,j])");
    await accessible("an error in the dark");
    await shot("error-dark");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  },

  async "workers and a narrow window"() {
    await page.click("#tab-workers");
    await until(() => /no workers|computes itself/.test(document.getElementById("side-workers").textContent));
    await page.setViewport({ width: 600, height: 900 });
    await shot("narrow-light");
    await page.setViewport({ width: 1280, height: 860 });
  },

  async "the page is for the keyboard alone, too"() {
    await page.click("#tab-tensors");
    await setText("SELECT 42 AS answer");
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await idle();
    await until(() => document.querySelector(".table-row")?.children[1].textContent === "42");
    await page.focus("#tab-tensors");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.id), "tab-sessions");
    await page.keyboard.press("ArrowLeft");
  },

  async "a reload keeps the session, logging out ends it"() {
    await page.reload();
    await ready();
    await until(() => !document.getElementById("app").hidden);
    await page.click("#logout");
    await until(() => !document.getElementById("login").hidden);
    await page.reload();
    await ready();
    assert.equal(await page.$eval("#app", (app) => app.hidden), true);
  },

  async "workers, what they hold and received"() {
    const cluster = await startCluster();
    try {
      await page.goto(cluster.url);
      await ready();
      await page.$eval("#user", (input) => (input.value = "anybody"));
      await page.click("#login-form button");
      await until(() => !document.getElementById("app").hidden);
      await runText("CREATE TENSOR P AS EINSUM P[i 512, j 512] = CAST(i - j AS FLOAT64); EINSUM Z[i,k] = SUM(P[i,j] * P[k,j])");
      await page.click("#tab-workers");
      await until(() => document.querySelectorAll("#side-workers .session").length === 2);
      // Workers tell with their heartbeats.
      await until(() => [...document.querySelectorAll("#side-workers .session")].every((worker) => /holds[\d.]+ [KM]iB.*received[\d.]+ [KM]iB/.test(worker.textContent)));
      await setText("EINSUM Z[i,k] = SUM(P[i,j] * P[k,j])");
      await page.click("#analyze");
      await idle();
      await until(() => document.querySelectorAll(".eindb-plan .box").length >= 3);
      assert.match(await text(".plan-details"), /Workers/);
      await accessible("workers");
      await shot("workers-light");
    } finally {
      await cluster.stop();
    }
  },

  async "EXPLAIN (FORMAT html) is a page of its own"() {
    const file = join(server.folder, "plan.html");
    const made = spawnSync(EINDB, [server.database], {
      input: `.once /dev/null\nEINSUM Z[i,k] = SUM(A[i,j] * B[j,k] * 2);\n.plan ${file} analyze\n`, encoding: "utf8",
    });
    assert.equal(made.status, 0, made.stderr);
    const alone = await browser.newPage();
    await alone.setViewport({ width: 1280, height: 860 });
    const asked = [];
    alone.on("request", (request) => asked.push(request.url()));
    alone.on("pageerror", (error) => problems.push(String(error)));
    await alone.goto(pathToFileURL(file).href);
    assert.ok((await alone.$$(".eindb-plan .box")).length >= 4);
    assert.equal(asked.length, 1);
    await alone.screenshot({ path: join(SHOTS, "plan-html-light.png") });
    await alone.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await alone.screenshot({ path: join(SHOTS, "plan-html-dark.png") });
    await alone.close();
  },
};

let failures = 0;
for (const [name, test] of Object.entries(tests)) {
  if (ONLY && !name.includes(ONLY) && !/loads|password/.test(name)) continue;
  try {
    await test();
    console.log(`ok  ${name}`);
  } catch (error) {
    ++failures;
    console.log(`FAILED  ${name}\n${error.stack}`);
    await shot(`failed-${failures}`).catch(() => {});
  }
}
if (problems.length || outside.length) {
  ++failures;
  console.log(`FAILED  the page reports: ${[...problems, ...outside].join("\n")}`);
}
await browser.close();
const code = await server.stop();
if (code !== 0) {
  ++failures;
  console.log(`FAILED  the server ended with ${code}`);
}
process.exit(failures ? 1 : 0);
