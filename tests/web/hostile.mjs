// The corpora of the fuzzers, as files that are dropped: each opens or is a sentence, and the page goes on.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { address, drop, go, onBothPages, onPage, root, told, until } from "./page.mjs";

const kLargest = 2 ** 30; // bytes of memory

function corpus(fuzzer, ending) {
  const folder = path.join(root, "tests/fuzz/corpus", fuzzer);
  return fs.readdirSync(folder).map((name) => [name + ending, fs.readFileSync(path.join(folder, name))]);
}

async function survives(p, files) {
  assert.ok(files.length > 10, "the corpus is there");
  for (const [name, bytes] of files) {
    await go(p, "t=tiled-4x4x4-t2&step=5");
    await p.keyboard.press("Escape");
    await until(p, "step 5 is shown", () => words.textContent.startsWith("Warp 0 arrives at the barrier."));
    const before = (await told(p)).words;
    await drop(p, [name, bytes]);
    await until(p, `${name} opens or is a sentence`, (before) => words.textContent && words.textContent !== before, before);
  }
  await go(p, "t=tiled-4x4x4-t2&step=5");
  await address(p, "#t=tiled-4x4x4-t2&step=5");
  await p.keyboard.press("ArrowRight");
  await address(p, "#t=tiled-4x4x4-t2&step=6");
  assert.equal((await told(p)).said, "", "the page lives");
  assert.ok((await p.evaluate(() => Module.HEAP8.length)) <= kLargest);
}

const kOpen = { hash: "#t=tiled-4x4x4-t2&step=5" };
onBothPages("hostile recordings", kOpen, (p) => survives(p, corpus("trace", ".tsc")));
onPage("hostile lessons", kOpen, (p) => survives(p, corpus("lesson", ".json")));

onPage("what a page has no memory for is a sentence", kOpen, async (p) => {
  await address(p, kOpen.hash);
  await p.evaluate(() => {
    for (let size = 256 << 20; size > 1 << 16; ) if (!Module._malloc(size)) size >>= 1;
  });
  await go(p, "kernel=tiled&m=128&k=128&n=128&tile=16");
  await until(p, "that is said", () => /memory/.test(words.textContent) || (!said.hidden && /memory/.test(said.textContent)));
});
