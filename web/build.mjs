// Builds the page: src/ and its packages become three files, compressed, and the C++ source that has them in the program.
//
//   node build.mjs OUTPUT.cpp

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (!output) throw new Error("node build.mjs OUTPUT.cpp");

async function bundled(entry) {
  const made = await build({
    entryPoints: [join(here, "src", entry)], bundle: true, minify: true, write: false, format: "esm", target: "es2022",
    legalComments: "eof", absWorkingDir: here, charset: "utf8",
  });
  return made.outputFiles[0].contents;
}

const files = [
  ["/", "text/html; charset=utf-8", readFileSync(join(here, "src/index.html"))],
  ["/console.js", "text/javascript; charset=utf-8", await bundled("console.js")],
  ["/console.css", "text/css; charset=utf-8", await bundled("console.css")],
];

const arrays = files.map(([, , bytes], n) => {
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 255; // the system that packed it does not matter
  return `constexpr unsigned char kFile${n}[] = {${packed.join(",")}};`;
});
const rows = files.map(([path, type], n) => `{"${path}", "${type}", {reinterpret_cast<const char*>(kFile${n}), sizeof kFile${n}}}`);
writeFileSync(output, `// Made by web/build.mjs.
#include "server/console/console_assets.hpp"

namespace eindb {
namespace {
${arrays.join("\n")}
}  // namespace

std::span<const ConsoleAsset> console_assets() {
  static const ConsoleAsset kAssets[] = {${rows.join(",\n    ")}};
  return kAssets;
}

}  // namespace eindb
`);
