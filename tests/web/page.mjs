// The page in a browser, as tests have it: opened, asked what it says, and given files. All waiting is for a condition; one that does not
// come about ends the test with what the page says instead.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";
import { serve } from "./serve.mjs";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const built = path.resolve(process.env.TILESCOPE_PAGE ?? path.join(root, "build/web"));
export const native = path.resolve(process.env.TILESCOPE ?? path.join(root, "build/tilescope"));
// Drivers of browsers, as ./run test-web installs them.
export const drivers = createRequire(path.join(root, "build-web/"));

const kPatience = 20000; // ms, on a machine with little time
// What may not be sent for: anything but this server's files and what the page itself holds.
const kOwn = /^(data|blob|file|about):/;

export const more = {}; // files that a test puts beside the page: "/name"
export const server = await serve(built, { more });
const origin = new URL(server.site).origin;
after(() => server.close());

let browser;
export async function chromium() {
  browser ??= await drivers("playwright-core").chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
  return browser;
}
after(() => browser?.close());

// A context whose pages note errors (`errors`) and what they send for elsewhere (`strangers`).
export async function context(options = {}) {
  const { suspends = true, ...others } = options;
  const made = await (await chromium()).newContext({ viewport: { width: 1280, height: 800 }, ...others });
  made.setDefaultTimeout(kPatience);
  made.errors = [];
  made.strangers = [];
  made.on("console", (line) => ["error", "warning"].includes(line.type()) && made.errors.push(line.text()));
  made.on("weberror", (error) => made.errors.push(String(error.error().stack)));
  made.on("request", (asked) => {
    if (new URL(asked.url()).origin !== origin && !kOwn.test(asked.url())) made.strangers.push(asked.url());
  });
  if (!suspends)
    await made.addInitScript(() => {
      delete WebAssembly.Suspending;
      delete WebAssembly.promising;
    });
  return made;
}

export const shown = (p) => p.waitForFunction(() => document.getElementById("said")?.hidden);

export async function open(made, hash, address = server.site + "index.html") {
  const p = await made.newPage();
  await p.goto(address + hash);
  await shown(p);
  return p;
}

// What the page says of itself.
export const told = (p) =>
  p.evaluate(() => ({
    title: document.title,
    hash: location.hash,
    words: document.getElementById("words").textContent,
    said: document.getElementById("said").hidden ? "" : document.getElementById("said").textContent,
  }));

export async function until(p, what, condition, argument, patience = kPatience) {
  try {
    await p.waitForFunction(condition, argument, { timeout: patience });
  } catch (why) {
    assert.fail(`${what}; but ${JSON.stringify(await told(p).catch(() => String(why)))}`);
  }
}
export const says = (p, part) =>
  until(p, `it says '${part}'`, (part) => document.getElementById("words").textContent.includes(part), part);
export const address = (p, hash) =>
  until(p, `the address is '${hash}'`, (hash) => location.hash === hash, hash);
export const titled = (p, part) => until(p, `the title has '${part}'`, (part) => document.title.includes(part), part);
export const go = (p, link) => p.evaluate((link) => void (location.hash = link), link);

// A test on a page that `hash` opens: none of its errors but those that `mayFail` matches, and nothing is sent for elsewhere.
export function onPage(name, { hash, mayFail, ...options }, body) {
  test(name, async () => {
    const made = await context(options);
    try {
      await body(await open(made, hash));
      const failed = made.errors.filter((error) => !mayFail?.test(error));
      assert.deepEqual(failed, [], "errors of the page");
      assert.deepEqual(made.strangers, [], "requests that leave the page's own server");
    } finally {
      await made.close();
    }
  });
}
// The same in a browser that suspends WebAssembly and in one that cannot.
export function onBothPages(name, options, body) {
  onPage(name, options, body);
  onPage(name + ", where WebAssembly is not suspended", { ...options, suspends: false }, body);
}

// --- files

export const recording = (name) => fs.readFileSync(path.join(built, "recordings", name + ".tsc"));

// Drops files [name, bytes].
export const drop = (p, ...files) =>
  p.evaluate(
    (files) => {
      const data = new DataTransfer();
      for (const [name, bytes] of files)
        data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
      Module.canvas.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    files.map(([name, bytes]) => [name, Buffer.from(bytes).toString("base64")])
  );

// What comes as a download after `deed`.
export async function download(p, deed) {
  const [came] = await Promise.all([p.waitForEvent("download"), deed()]);
  return { name: came.suggestedFilename(), bytes: fs.readFileSync(await came.path()) };
}
// An action by words of its name, whose row has to be the first.
export async function act(p, words) {
  await p.keyboard.press("Control+p");
  await turns(p, 8);
  await p.keyboard.type(words);
  await turns(p, 8);
  await p.keyboard.press("Enter");
}
// Pictures that the browser has drawn since.
export const turns = (p, count = 4) =>
  p.evaluate(
    (count) => new Promise((done) => {
      const next = () => (count-- > 0 ? requestAnimationFrame(next) : done());
      next();
    }),
    count
  );

// --- pictures

// The picture once nothing moves any more.
export async function still(p) {
  let before = null;
  for (let i = 0; i < 100; ++i) {
    await turns(p, 12);
    const now = await p.screenshot();
    if (before?.equals(now)) return now;
    before = now;
  }
  assert.fail("the picture never rests");
}
// What the function `of` makes of the pixels of pictures, in the page, which can unpack them.
const ofPixels = (p, of, ...pictures) =>
  p.evaluate(
    async ([of, pictures]) => {
      const pixels = pictures.map(async (picture) => {
        const image = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
        const flat = new OffscreenCanvas(image.width, image.height).getContext("2d");
        flat.drawImage(image, 0, 0);
        return new Uint32Array(flat.getImageData(0, 0, image.width, image.height).data.buffer);
      });
      return new Function("return " + of)()(...(await Promise.all(pixels)));
    },
    [String(of), pictures.map((picture) => picture.toString("base64"))]
  );
// Of a picture: how many colours it has; of two of one size: the share of pixels of which a channel differs by more than so many
// levels of 255.
export const colours = (p, picture) => ofPixels(p, (pixels) => new Set(pixels).size, picture);
export const difference = async (p, a, b, levels = 0) =>
  (await ofPixels(
    p,
    (a, b) => {
      const counts = new Array(256).fill(0); // pixels by the largest difference of a channel
      for (let i = 0; i < a.length; ++i) {
        let most = 0;
        for (let shift = 0; shift < 24; shift += 8)
          most = Math.max(most, Math.abs(((a[i] >> shift) & 255) - ((b[i] >> shift) & 255)));
        ++counts[most];
      }
      return counts.map((count) => count / a.length);
    },
    a,
    b
  ))
    .slice(levels + 1)
    .reduce((sum, share) => sum + share, 0);
