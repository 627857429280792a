// The first picture: from a folder and from a file, and where a browser or a server has less than usual.
import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import { address, built, colours, context, download, onBothPages, onPage, open, server, says, shown, still, until } from "./page.mjs";

const kOneFile = pathToFileURL(path.join(built, "tilescope.html")).href;

onBothPages("a newcomer's first picture is the first lesson's", { hash: "" }, async (p) => {
  await says(p, "stop 1 of");
  assert.ok((await colours(p, await still(p))) > 100, "a picture, and not one colour");
});

onPage("what is drawn has a name, and its words are a live region", { hash: "#t=tiled-4x4x4-t2" }, async (p) => {
  assert.equal(await p.getByRole("application", { name: /^Tilescope/ }).count(), 1);
  assert.equal(await p.locator("#words[aria-live=polite]").count(), 1);
  assert.equal(await p.evaluate(() => document.activeElement.id), "canvas");
});

for (const suspends of [true, false])
  test(`one file, from the disk${suspends ? "" : ", where WebAssembly is not suspended"}`, async () => {
    const made = await context({ suspends });
    const p = await open(made, "#t=untiled-64x64x64-t16&step=70", kOneFile);
    await address(p, "#t=untiled-64x64x64-t16&step=70");
    await p.keyboard.press("ArrowRight");
    await address(p, "#t=untiled-64x64x64-t16&step=71");
    assert.ok((await colours(p, await still(p))) > 100);
    const saved = await download(p, () => p.keyboard.press("Control+s"));
    assert.equal(saved.name, "untiled-64x64x64-t16.tsc");
    assert.deepEqual([made.errors, made.strangers], [[], []]);
    await made.close();
  });

// What a browser or a server may lack, and what comes of it.
function lacking(name, prepare, holds) {
  test(name, async () => {
    const made = await context();
    await prepare(made);
    const p = await made.newPage();
    await p.goto(server.site + "index.html#t=tiled-4x4x4-t2&step=5");
    await holds(p);
    await made.close();
  });
}
const step_five = async (p) => {
  await shown(p);
  await address(p, "#t=tiled-4x4x4-t2&step=5");
};
lacking(
  "a browser that unpacks nothing gets what is not packed",
  (made) => made.addInitScript(() => delete window.DecompressionStream),
  step_five
);
lacking(
  "a browser that remembers nothing",
  (made) =>
    made.addInitScript(() =>
      Object.defineProperty(window, "localStorage", {
        get() {
          throw new Error("denied");
        },
      })
    ),
  async (p) => {
    await step_five(p);
    await p.keyboard.press("t");
    await p.keyboard.press("ArrowRight");
    await address(p, "#t=tiled-4x4x4-t2&step=6");
  }
);
const sentence = (p, part) =>
  until(p, `the page says '${part}' in place of a picture`, (part) => !said.hidden && said.textContent.includes(part), part);
lacking(
  "a server without the program",
  (made) => made.route("**/program.packed", (route) => route.fulfill({ status: 404 })),
  (p) => sentence(p, "could not be loaded: its server says 404")
);
lacking(
  "a browser without WebGL 2",
  (made) =>
    made.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    }),
  (p) => sentence(p, "no WebGL 2")
);
lacking(
  "a browser that takes the graphics away and gives them back",
  () => {},
  async (p) => {
    await step_five(p);
    await p.evaluate(() => (window.lost = Module.canvas.getContext("webgl2").getExtension("WEBGL_lose_context")).loseContext());
    await sentence(p, "graphics");
    await p.evaluate(() => lost.restoreContext());
    await shown(p);
    assert.ok((await colours(p, await still(p))) > 100);
  }
);

onPage("what is chosen stays", { hash: "#t=tiled-4x4x4-t2" }, async (p) => {
  const kept = () => Object.values(localStorage).some((text) => text.includes('"theme": "dark"') || text.includes('"theme":"dark"'));
  assert.ok(!(await p.evaluate(kept)));
  const light = await still(p);
  await p.keyboard.press("t");
  await until(p, "the theme is kept", kept);
  await p.reload();
  await shown(p);
  const dark = await still(p);
  assert.ok(dark.length && !dark.equals(light), "it opens in the dark");
});
