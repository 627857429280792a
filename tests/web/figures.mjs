// Prints the table of figures of docs/web.md:  node tests/web/figures.mjs
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { address, built, chromium, go, server, titled, until } from "./page.mjs";
import { serve } from "./serve.mjs";

const rows = [];
const row = (what, figure) => rows.push(`| ${what} | ${figure} |`);
const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
const ms = (figure) => `${figure.toFixed(figure < 100 ? 1 : 0)} ms`;
const bytes = (size) => size.toLocaleString("en").replaceAll(",", " ");
const file = (name) => fs.readFileSync(path.join(built, name));

const kFirst = ["index.html", "script.packed", "program.packed"];
row("what the first picture needs: " + kFirst.map((name) => `\`${name}\``).join(", "), bytes(kFirst.reduce((sum, name) => sum + file(name).length, 0)) + " bytes");
row("`tilescope.wasm`", bytes(file("tilescope.wasm").length) + " bytes");
row("`tilescope.html`", bytes(file("tilescope.html").length) + " bytes");

// From the start of the navigation to the first picture; of three visits the median. Each is a new browser's unless `again`.
async function first(site, again = false) {
  const times = [];
  for (let i = 0; i < 3; ++i) {
    const made = await (await chromium()).newContext({ viewport: { width: 1280, height: 800 } });
    for (const last of again ? [false, true] : [true]) {
      const p = await made.newPage();
      await p.goto(site, { waitUntil: "commit" });
      const time = await p.waitForFunction(() => document.getElementById("said")?.hidden && performance.now());
      if (last) times.push(await time.jsonValue());
      await p.close();
    }
    await made.close();
  }
  return ms(median(times));
}
const slow = await serve(built, { bits: 10e6, delay: 30 });
row("first picture, this machine's own server", await first(server.site));
row("first picture at 10 Mbit/s and 30 ms, from nothing", await first(slow.site));
row("the same, again from the cache", await first(slow.site, true));
row("first picture of `tilescope.html`, from the disk", await first(pathToFileURL(path.join(built, "tilescope.html")).href));
slow.close();

// Times between the browser's pictures, and those of the page's turns in them.
const made = await (await chromium()).newContext({ viewport: { width: 1280, height: 800 } });
await made.addInitScript(() => {
  window.gaps = [];
  window.spent = [];
  let last = 0;
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (turn) =>
    ask((now) => {
      const begun = performance.now();
      if (last) gaps.push(begun - last);
      last = begun;
      turn(now);
      spent.push(performance.now() - begun);
    });
});
const p = await made.newPage();
await p.goto(server.site + "#kernel=tiled&tile=16&m=64&k=64&n=64");
await titled(p, "tiled 64×64×64 T=16");
const anew = () => p.evaluate(() => void ((gaps.length = 0), (spent.length = 0)));
const taken = async () => {
  const { gaps, spent } = await p.evaluate(() => ({ gaps, spent }));
  const of = (all) => (all.sort((a, b) => a - b), { median: median(all), p95: all[Math.floor(all.length * 0.95)], longest: all.at(-1) });
  return { frame: of(gaps), turn: of(spent), pictures: gaps.length };
};
await p.keyboard.press("Space");
await until(p, "it plays", () => +/step=(\d+)/.exec(location.hash)?.[1] > 3);
await anew();
await until(p, "300 pictures have been drawn", () => gaps.length >= 300);
const playing = await taken();
row("Step, 64³, playing: between two pictures, median and 95 %", `${ms(playing.frame.median)}, ${ms(playing.frame.p95)}`);
row("the same: a turn of the program, median and 95 %", `${ms(playing.turn.median)}, ${ms(playing.turn.p95)}`);
await anew();
const began = performance.now();
await go(p, "kernel=tiled&tile=16&m=512&k=512&n=512");
await until(p, "512³ is recorded", () => document.title.includes("512×512×512"), null, 300000);
const beside = await taken();
row("recording 512³ beside it", `${((performance.now() - began) / 1000).toFixed(1)} s`);
row("the same: between two pictures, median and longest", `${ms(beside.frame.median)}, ${ms(beside.frame.longest)}`);
row("the page's memory after it", `${((await p.evaluate(() => Module.HEAP8.length)) / 2 ** 20).toFixed(0)} MiB`);

const version = (await chromium()).version();
console.log(`Chromium ${version}, software OpenGL, ${os.cpus().length} cores, ${new Date().toISOString().slice(0, 10)}.\n`);
console.log(["| what | figure |", "|---|---:|", ...rows].join("\n"));
await (await chromium()).close();
server.close();
