// Links lead somewhere, the address follows what one does, and what is no link is a sentence.
import assert from "node:assert/strict";
import { address, more, onBothPages, onPage, recording, says, titled, told, turns, until, go } from "./page.mjs";

onBothPages("a link leads to its step, and the address follows", { hash: "#t=tiled-64x64x64-t16&step=70" }, async (p) => {
  await titled(p, "tiled 64×64×64 T=16 - step 70 of");
  await address(p, "#t=tiled-64x64x64-t16&step=70");
  await until(p, "the step's caption is text", () => /^Warp \d+ /.test(words.textContent));
  await go(p, "t=tiled-64x64x64-t16&step=1500"); // typed by hand
  await titled(p, "step 276 of 1,224 of block(0,1)"); // the second of 16 blocks
  await address(p, "#t=tiled-64x64x64-t16&step=1500");
  await go(p, "lesson=reuse&stop=2");
  await says(p, "stop 2 of 5");
  await address(p, "#lesson=reuse&stop=2");
});

onBothPages("a link has a kernel recorded", { hash: "#kernel=tiled&m=32&k=16&n=32&tile=8&step=3" }, async (p) => {
  await titled(p, "tiled 32×16×32 T=8 - step 3 of");
  await address(p, "#kernel=tiled&m=32&k=16&n=32&tile=8&step=3");
  await go(p, "kernel=double_buffer&m=128&k=32&n=128");
  await titled(p, "double_buffer 128×32×128");
});

onBothPages("a recording that is asked for again while it is on its way is opened", { hash: "#t=tiled-4x4x4-t2" }, async (p) => {
  await address(p, "#t=tiled-4x4x4-t2&step=1");
  await p.route("**/tiled-16x16x16-t4.tsc", async (route) => {
    await new Promise((done) => setTimeout(done, 500));
    await route.continue();
  });
  await go(p, "t=tiled-16x16x16-t4");
  await turns(p);
  await go(p, "t=tiled-16x16x16-t4&step=3");
  await titled(p, "tiled 16×16×16 T=4 - step 3 of");
  await p.keyboard.press("ArrowRight");
  await address(p, "#t=tiled-16x16x16-t4&step=4");
  assert.equal((await told(p)).said, "", "the page lives");
});

more["/mine.tsc"] = recording("tiled-16x16x16-t4");
onBothPages("a link has a recording fetched", { hash: "#t=../mine.tsc&step=9&theme=dark&lecture=1" }, async (p) => {
  await titled(p, "tiled 16×16×16 T=4 - step 9 of");
  await address(p, "#t=../mine.tsc&step=9&theme=dark&lecture=1");
});

onPage("I copies the link to this step", { hash: "#t=tiled-4x4x4-t2&step=5", permissions: ["clipboard-read", "clipboard-write"] }, async (p) => {
  await address(p, "#t=tiled-4x4x4-t2&step=5");
  await p.keyboard.press("i");
  await says(p, "on the clipboard");
  assert.equal(await p.evaluate(() => navigator.clipboard.readText()), p.url());
  assert.ok(p.url().endsWith("#t=tiled-4x4x4-t2&step=5"));
});

const kHostile = {
  "t=javascript:alert(1)": "The link's t=javascript:alert(1) is no recording",
  "t=data:text/html,x": "is no recording",
  "t=//elsewhere.example/x.tsc": "is no recording",
  "t=nothing.tsc": "'nothing.tsc' could not be fetched (its server says 404)",
  "kernel=tiled&m=99999999&k=9999&n=99999": "The link's kernel",
  "kernel=tiled&m=2048&k=2048&n=2048": "is too large to be recorded for a link",
  "kernel=rm": "The link's kernel 'rm' is not among those that ship",
  "screen=%0a": "The link's 'screen=%0a' is not written as addresses are",
  "screen=nothing": "The link's screen 'nothing' is not known",
  "lesson=x": "The link's lesson 'x' is not among those that ship",
  "step=99999999": "The link's step 99,999,999 is not there",
  "step=-1": "is no number from 1 on",
  "%%%": "The link says '%%%', which means nothing here",
  "what=1": "The link says 'what', which means nothing here",
};
onBothPages("what is no link is a sentence", { hash: "#t=tiled-4x4x4-t2&step=5", mayFail: /404/ }, async (p) => {
  p.on("dialog", () => assert.fail("a link has run as a script"));
  for (const [link, sentence] of Object.entries(kHostile)) {
    await go(p, link);
    await says(p, sentence);
    await go(p, "t=tiled-4x4x4-t2&step=5");
    await p.keyboard.press("Escape");
    await until(p, "the sentence goes", () => words.textContent.startsWith("Warp 0 arrives at the barrier."));
  }
  await p.keyboard.press("ArrowRight");
  await address(p, "#t=tiled-4x4x4-t2&step=6");
});

onPage("a stop that is not there is a sentence", { hash: "#lesson=reuse&stop=99" }, (p) =>
  says(p, "The link's stop 99 is not there"));
