// Recordings made in the page are byte for byte the native program's, of every textbook kernel at three sizes; and so is what both
// write of one. Both are given one clock, since a recording says when it was made. What `report` and `table` print of a recording is
// made by one program of equal bytes, and therefore equal.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { act, download, go, native, onPage, titled } from "./page.mjs";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tilescope-web-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
const run = (...words) => execFileSync(native, words, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });

// Second in which a recording was made: of its Meta, the first section (docs/file-format.md).
function made_at(bytes) {
  const sections = bytes.readUInt32LE(12), from = 32 + 32 * sections;
  const meta = execFileSync("zstd", ["-dc"], { input: bytes.subarray(from, from + Number(bytes.readBigUInt64LE(40))) });
  return Date.parse(JSON.parse(meta).recorded_at);
}

// m, k, n: one block, edges that no tile divides, and a usual one; T from the least that ships to the largest.
const kTiled = [[4, 4, 4], [20, 52, 28], [64, 64, 64]];
const kWithoutTile = [[128, 16, 128], [72, 44, 68], [256, 64, 128]];

const { kernels } = JSON.parse(run("kernels", "--json"));
assert.ok(kernels.length >= 13);
for (const { name, tiles } of kernels) {
  const usual = tiles?.length ? [tiles[0], tiles[tiles.length >> 1], tiles.at(-1)] : null;
  onPage(`recordings of ${name}`, { hash: "#t=untiled-512x8x512-t16" }, async (p) => {
    await titled(p, "untiled 512"); // which none of those below is called
    for (const [i, [m, k, n]] of (usual ? kTiled : kWithoutTile).entries()) {
      const sizes = { m, k, n, ...(usual && { tile: usual[i] }) };
      run("record", name, "--backend", "cpu", "-o", "native.tsc", ...Object.entries(sizes).flatMap(([key, size]) => ["--" + key, size]));
      const wanted = fs.readFileSync(path.join(folder, "native.tsc"));
      await p.evaluate((second) => void (Date.now = () => second), made_at(wanted));
      await go(p, `kernel=${name}&${new URLSearchParams(sizes)}`);
      await titled(p, `${name} ${m}×${k}×${n}`);
      const { bytes } = await download(p, () => p.keyboard.press("Control+s"));
      assert.ok(wanted.equals(bytes), `${name} ${JSON.stringify(sizes)}: ${bytes.length} bytes, ${wanted.length} by the native program`);
    }
  });
}

onPage("what is written of a recording", { hash: "#t=tiled-100x70x130-t16" }, async (p) => {
  await titled(p, "tiled 100×70×130");
  const by = { csv: "export every request as CSV", json: "export every request as JSON", perfetto: "export Perfetto" };
  for (const [format, words] of Object.entries(by)) {
    run("export", "tiled-100x70x130-t16", "--format", format, "-o", "native." + format);
    const { bytes } = await download(p, () => act(p, words));
    assert.ok(fs.readFileSync(path.join(folder, "native." + format)).equals(bytes), format);
  }
  for (const [format, words] of Object.entries({ md: "phase table as Markdown", csv: "phase table as CSV" })) {
    const { bytes } = await download(p, () => act(p, words));
    assert.equal(bytes.toString(), run("table", "tiled-100x70x130-t16", "--format", format).toString());
  }
});
