// Firefox, as Debian has it. Without a display it has no WebGL, so xvfb gives it one.
import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { after, test } from "node:test";
import { built, drivers, server, shown, told } from "./page.mjs";

let firefox;
after(() => firefox?.close());

for (const [where, site] of [
  ["a folder", server.site + "index.html"],
  ["one file", pathToFileURL(path.join(built, "tilescope.html")).href],
])
  test(`Firefox, from ${where}`, async () => {
    const { default: puppeteer } = await import(pathToFileURL(drivers.resolve("puppeteer-core")).href);
    firefox ??= await puppeteer.launch({
      browser: "firefox",
      executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr",
      headless: false,
      env: { ...process.env, LIBGL_ALWAYS_SOFTWARE: "1" },
      extraPrefsFirefox: { "webgl.force-enabled": true },
    });
    const p = await firefox.newPage();
    await p.setViewport({ width: 1280, height: 800 });
    const errors = [];
    p.on("pageerror", (error) => errors.push(String(error)));
    const until = async (what, condition, ...given) => {
      await p.waitForFunction(condition, { timeout: 20000 }, ...given).catch(async () => assert.fail(`${what}; but ${JSON.stringify(await told(p))}`));
    };
    const address = (hash) => until(`the address is ${hash}`, (hash) => location.hash === hash, hash);
    await p.goto(site + "#t=tiled-64x64x64-t16&step=70");
    await shown(p);
    await address("#t=tiled-64x64x64-t16&step=70");
    await p.keyboard.press("ArrowRight");
    await address("#t=tiled-64x64x64-t16&step=71");
    await p.keyboard.press("Digit4");
    await address("#t=tiled-64x64x64-t16&screen=timing&step=71");
    await p.evaluate(() => void (location.hash = "kernel=tiled&m=32&k=16&n=32&tile=8&step=3"));
    await until("a recording is made", () => document.title.includes("tiled 32×16×32 T=8 - step 3 of"));
    assert.deepEqual(errors, []);
    await p.close();
  });
