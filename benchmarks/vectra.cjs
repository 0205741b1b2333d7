// Does with vectra's LocalIndex what benchmarks/peers.py does with ours, and times it.
//
// Obeys one line of JSON after another, {"do": NAME, …}, and answers each with one line. Vectors
// come as little-endian float32 in a file. Times are in milliseconds and hold no reading of input.

const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");

const [, , library, folder, vectorsFile, dimensionText] = process.argv;
const { LocalIndex } = require(path.join(library, "node_modules", "vectra"));

const dimension = Number(dimensionText);
const index = new LocalIndex(folder);

function vectorsAt(first, count) {
  const bytes = Buffer.alloc(count * dimension * 4);
  const file = fs.openSync(vectorsFile, "r");
  fs.readSync(file, bytes, 0, bytes.length, first * dimension * 4);
  fs.closeSync(file);
  const numbers = new Float32Array(bytes.buffer, bytes.byteOffset, count * dimension);
  return Array.from({ length: count }, (_, row) =>
    Array.from(numbers.subarray(row * dimension, (row + 1) * dimension)),
  );
}

function itemOf(vector, number) {
  const metadata = { noteId: number, title: `note ${number}`, chunkIndex: 0, text: `text of note ${number}` };
  return { id: `chunk-${number}`, vector, metadata };
}

async function timed(work) {
  const start = process.hrtime.bigint();
  const value = await work();
  return { ms: Number(process.hrtime.bigint() - start) / 1e6, value };
}

const deeds = {
  async build({ count }) {
    const items = vectorsAt(0, count).map(itemOf);
    await index.createIndex({ version: 1, deleteIfExists: true });
    const { ms } = await timed(() => index.batchInsertItems(items));
    return { ms, bytes: fs.statSync(path.join(folder, "index.json")).size };
  },
  async insert({ row }) {
    const item = itemOf(vectorsAt(row, 1)[0], row);
    return { ms: (await timed(() => index.insertItem(item))).ms };
  },
  async add({ first, count }) {
    const items = vectorsAt(first, count).map((vector, place) => itemOf(vector, first + place));
    return { ms: (await timed(() => index.batchInsertItems(items))).ms };
  },
  async query({ row, limit }) {
    const vector = vectorsAt(row, 1)[0];
    const { ms, value } = await timed(() => index.queryItems(vector, "", limit));
    return { ms, ids: value.map((found) => found.item.metadata.noteId), peak: peak() };
  },
};

function peak() {
  // The usual figure begins with that of the process which started this one.
  const status = "/proc/self/status";
  const found = fs.existsSync(status) && /VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(status, "utf8"));
  return (found ? Number(found[1]) : process.resourceUsage().maxRSS) * 1024;
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { do: name, ...given } = JSON.parse(line);
    let answer;
    try {
      answer = await deeds[name](given);
    } catch (error) {
      answer = { failed: String(error.message || error) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
}

main();
