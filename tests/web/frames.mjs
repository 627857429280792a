// The page in another page's frame: a course page as docs/web.md writes one, and its messages.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { context, more, recording, root, server, shown } from "./page.mjs";

const snippet = /```html\n([^]*?)```/.exec(fs.readFileSync(path.join(root, "docs/web.md"), "utf8"))[1];
const listener = "<link rel=icon href=data:,><script>window.got = []; window.addEventListener('message', (e) => got.push(e.data));</script>";
more["/notes.html"] = listener + snippet;
more["/mine.tsc"] = recording("tiled-16x16x16-t4");

async function notes(body, mayFail) {
  const made = await context({ viewport: { width: 1280, height: 2400 } });
  const p = await made.newPage();
  await p.goto(new URL("/notes.html", server.site).href);
  const frames = await Promise.all(
    (await p.$$("iframe")).map(async (element) => {
      await element.scrollIntoViewIfNeeded();
      const frame = await element.contentFrame();
      await shown(frame);
      return frame;
    })
  );
  await body(p, frames);
  assert.deepEqual([made.errors.filter((error) => !mayFail?.test(error)), made.strangers], [[], []]);
  await made.close();
}
const got = (p, what, fits, argument) =>
  p.waitForFunction(fits, argument).catch(async () => assert.fail(`${what}; but ${JSON.stringify(await p.evaluate(() => got))}`));

test("the course page of docs/web.md: each frame and each link leads where it says", () =>
  notes(async (p, frames) => {
    assert.equal(frames.length, 3);
    for (const frame of frames) {
      const wanted = new URLSearchParams(new URL(frame.url()).hash.slice(1));
      assert.equal(wanted.get("embed"), "1");
      await frame.waitForFunction((step) => !step || document.title.includes(`step ${step} of`), wanted.get("step"));
      await frame.waitForFunction(
        (stop) => !stop || document.getElementById("words").textContent.includes(`stop ${stop} of`), wanted.get("stop"));
    }
    const links = await p.$$eval("a", (all) => all.map((one) => one.href));
    assert.ok(links.length > 1);
    for (const link of links) {
      const other = await p.context().newPage();
      await other.goto(link);
      await shown(other);
      await other.waitForFunction((link) => location.href === link && !/The link/.test(document.getElementById("words").textContent), link);
      const step = /step=(\d+)/.exec(link)?.[1];
      if (step) await other.waitForFunction((step) => document.title.includes(`step ${step} of`), step);
      await other.close();
    }
  }));

test("messages: a page asks, sends a recording and a link, and is told of steps", () =>
  notes(async (p, [frame]) => {
    const post = (message) => p.evaluate((message) => document.querySelector("iframe").contentWindow.postMessage(message, "*"), message);
    await post("PING");
    await got(p, "PING is answered", () => got.includes("PONG"));
    await p.evaluate(async () => {
      const buffer = await (await fetch("/mine.tsc")).arrayBuffer();
      document.querySelector("iframe").contentWindow.postMessage({ tilescope: { buffer, name: "sent.tsc" } }, "*");
    });
    await got(p, "a recording is acknowledged", () => got.some((one) => one.tilescope?.received === "sent.tsc"));
    await frame.waitForFunction(() => document.title.includes("tiled 16×16×16 T=4"));
    await post({ tilescope: { link: "t=tiled-4x4x4-t2&step=20&embed=1" } });
    await got(p, "the step is told, with its block, caption and link", () =>
      got.some(({ tilescope: one }) => one?.step === 20 && one.block === "block(0,0)" && one.caption && one.link === "t=tiled-4x4x4-t2&step=20&embed=1"));
    await p.evaluate(() =>
      document.querySelector("iframe").contentWindow.postMessage({ tilescope: { buffer: new ArrayBuffer(8), name: "bad.tsc" } }, "*"));
    await got(p, "what is no recording is a sentence", () => got.some((one) => /bad\.tsc is not a whole/.test(one.tilescope?.caption)));
    await post({ tilescope: { link: "t=nothing.tsc" } });
    await got(p, "what cannot be fetched is a problem", () => got.some((one) => /'nothing\.tsc' could not be fetched/.test(one.tilescope?.problem)));
    // Keys go where the reader is.
    await p.evaluate(() => document.body.append(Object.assign(document.createElement("input"), { id: "field" })));
    await p.focus("#field");
    await p.keyboard.type("abc");
    assert.equal(await p.inputValue("#field"), "abc");
  }, /404/));
