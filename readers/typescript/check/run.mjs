// Runs the reader on all of tests/vectors, and on the tables of docs/format.md. Says what differs, and ends with 1 then.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import * as hold from "../dist/index.js";
import { canonical, describe } from "./describe.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const VECTORS = join(ROOT, "tests", "vectors");
const unzstd = zlib.zstdDecompressSync && ((packed) => new Uint8Array(zlib.zstdDecompressSync(packed)));
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, "hex"));
const counts = {};
const failures = [];
let skipped = 0;

const vectors = (group) => JSON.parse(readFileSync(join(VECTORS, `${group}.json`), "utf8")).vectors;

function differs(found, expected) {
  const [one, other] = [JSON.stringify(canonical(found)), JSON.stringify(canonical(expected))];
  return one === other ? null : `\n  found    ${one.slice(0, 300)}\n  expected ${other.slice(0, 300)}`;
}

/** Runs a case: `run` returns what is wrong, or null. */
function test(group, name, run) {
  counts[group] = (counts[group] ?? 0) + 1;
  let wrong;
  try {
    wrong = run();
  } catch (error) {
    if (error instanceof hold.HoldError && error.kind === "zstd") {
      skipped++;
      return;
    }
    wrong = error instanceof hold.HoldError ? `refused: ${error.kind}: ${error.message}` : error.stack;
  }
  if (wrong) failures.push(`${group}: ${name}: ${wrong}`);
}

// Where several things are wrong at once, or one can be called by two names.
const ALIKE = { key: ["cycle"], value: ["key", "cycle", "truncated", "tag", "mark", "code"], code: ["tag"], cycle: ["reference"], reference: ["mark"], mark: ["reference", "names"], trailing: ["truncated"], file: ["checksum", "truncated", "buffer"], truncated: ["names", "reference"], "not a file": ["version"] };

function refused(run, expected, length) {
  try {
    run();
  } catch (error) {
    if (!(error instanceof hold.HoldError) || error.kind === "zstd") throw error;
    const isIn = error.offset >= 0 && error.offset <= length;
    if (!isIn) return `an offset of ${error.offset} in ${length} bytes`;
    return error.kind === expected || ALIKE[expected]?.includes(error.kind) ? null : `refused as ${error.kind} (${error.message}), expected ${expected}`;
  }
  return `is taken, expected ${expected}`;
}

function message(vector) {
  const options = { trust: "before" in vector, ...(vector.buffers && { buffers: vector.buffers.map(bytes) }) };
  for (const one of vector.before ?? []) options.before = hold.readMessage(bytes(one), options);
  return hold.readMessage(bytes(vector.bytes), options);
}

for (const group of ["scalars", "text", "containers", "references", "layouts", "known", "numpy", "invalid", "buffers", "trusted"]) {
  for (const vector of vectors(group)) {
    const length = vector.bytes.length / 2;
    test(group, vector.name, () =>
      "error" in vector ? refused(() => message(vector), vector.error, length) : differs(describe(message(vector).value), vector.value),
    );
    if ("error" in vector) continue;
    test("prefixes", vector.name, () => {
      for (let end = 0; end < Math.min(length, 200); end++) {
        const wrong = refused(() => message({ ...vector, bytes: vector.bytes.slice(0, 2 * end) }), "truncated", end);
        if (wrong?.startsWith("is taken") || wrong?.startsWith("an offset")) return `${end} bytes: ${wrong}`;
      }
      return null;
    });
  }
}

// Damaged bytes are read or refused, and nothing else happens; the same ones each time.
let seed = 1;
const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
function damaged(data, times, read) {
  for (let turn = 0; turn < times; turn++) {
    const made = Uint8Array.from(data);
    for (let left = 1 + random(3); left > 0 && made.length > 1; left--) made[1 + random(made.length - 1)] = random(256);
    try {
      read(made);
    } catch (error) {
      if (error instanceof hold.HoldError) continue;
      return `${Buffer.from(made).toString("hex").slice(0, 400)}: ${error.stack}`;
    }
  }
  return null;
}
for (const group of ["scalars", "text", "containers", "references", "layouts", "known", "numpy", "buffers", "trusted", "invalid"]) {
  for (const vector of vectors(group).filter((one) => one.bytes.length > 2 && one.bytes.length < 4000)) {
    test("damaged", vector.name, () => damaged(bytes(vector.bytes), 100, (data) => hold.readMessage(data, { trust: true })));
  }
}
for (const vector of vectors("logs")) test("damaged", vector.name, () => damaged(bytes(vector.log), 20, hold.readLog));

for (const vector of vectors("files")) {
  const file = bytes(vector.file);
  if ("error" in vector) {
    test("files", vector.name, () => refused(() => hold.read(file, { unzstd }), vector.error, file.length));
    continue;
  }
  test("files", vector.name, () => {
    const found = hold.readFrames(file, { unzstd });
    const buffers = found.buffers.map((body) => ({ bytes: body.length, xxh3: hold.xxh3(body).toString(16).padStart(16, "0") }));
    hold.read(file, { unzstd });
    return differs([Buffer.from(found.message).toString("hex"), buffers], [vector.message, vector.buffers]);
  });
}

for (const vector of vectors("logs")) {
  const log = bytes(vector.log);
  test("logs", vector.name, () => {
    if ("error" in vector) return refused(() => hold.readLog(log), vector.error, log.length);
    const { records, damage } = hold.readLog(log, { unzstd });
    const isDamaged = /damaged|torn/.test(vector.name);
    if (isDamaged !== damage.length > 0) return `damage: ${damage.map(String)}`;
    return differs(records.map((record) => describe(record.value, false)), vector.records);
  });
}

for (const vector of vectors("limits")) {
  const data = bytes(vector.runs.map(([hex, count]) => hex.repeat(count)).join(""));
  test("limits", vector.name, () => {
    const began = process.hrtime.bigint();
    try {
      hold.readMessage(data);
    } catch (error) {
      if (!(error instanceof hold.HoldError) || vector.read) throw error;
    }
    const took = Number(process.hrtime.bigint() - began) / 1e9;
    return took > 20 ? `took ${took} s` : null;
  });
}

for (const version of readdirSync(join(VECTORS, "golden"))) {
  for (const name of readdirSync(join(VECTORS, "golden", version)).filter((one) => one.endsWith(".hold"))) {
    const path = join(VECTORS, "golden", version, name);
    test("golden", `${version}/${name}`, () => {
      const value = JSON.parse(readFileSync(path.replace(/hold$/, "json"), "utf8"));
      return differs(describe(hold.read(new Uint8Array(readFileSync(path)), { unzstd }).value), value);
    });
  }
}

/** The tables of the page, cell by cell. */
function table(name) {
  const page = readFileSync(join(ROOT, "docs", "format.md"), "utf8");
  const body = page.split(`<!-- table: ${name} -->\n`)[1].split("<!-- end -->")[0];
  return body.trim().split("\n").slice(2).map((row) => row.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim()));
}
test("tables", "tags", () => {
  const names = [];
  for (const [range, name] of table("tags")) {
    const [first, last] = [...range.matchAll(/`0x(\w\w)`/g)].map((one) => parseInt(one[1], 16));
    for (let tag = first; tag <= (last ?? first); tag++) names[tag] = name;
  }
  return differs(hold.NAMES, names);
});
test("tables", "known types", () => {
  const arity = (values) => (values.startsWith("none") ? 0 : values.split(". Or ")[0].replaceAll("; or ", " or ").split(";").length);
  return differs(hold.KNOWN, table("known").map(([, name, values]) => [name, arity(values)]));
});

const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
console.log(Object.entries(counts).map(([group, count]) => `${group} ${count}`).join(", "));
for (const failure of failures) console.log(failure);
if (skipped) console.log(`${skipped} cases need zstd, which this Node has not (22.15 has)`);
console.log(failures.length ? `${failures.length} of ${total} cases failed` : `the TypeScript reader agrees in all ${total - skipped} cases`);
process.exitCode = failures.length ? 1 : 0;
