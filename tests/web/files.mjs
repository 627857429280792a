// Files come by drop and by dialog, and leave as downloads.
import assert from "node:assert/strict";
import { act, address, download, drop, go, onBothPages, onPage, recording, says, titled, until } from "./page.mjs";

const kFour = { hash: "#t=tiled-4x4x4-t2&step=5" };

onBothPages("a recording is dropped", kFour, async (p) => {
  await drop(p, ["mine.tsc", recording("tiled-16x16x16-t4")]);
  await titled(p, "tiled 16×16×16 T=4 - step 1 of");
});

onBothPages("of two recordings the second stands beside the first", kFour, async (p) => {
  await drop(p, ["one.tsc", recording("tiled-4x4x4-t2")], ["two.tsc", recording("tiled-16x16x16-t4")]);
  await says(p, "Compare screen");
  await titled(p, "tiled 4×4×4");
  await p.keyboard.press("Tab"); // swaps them
  await titled(p, "tiled 16×16×16");
  await p.keyboard.press("Tab");
  await titled(p, "tiled 4×4×4");
});

onPage("a recording is chosen", kFour, async (p) => {
  const [chooser] = await Promise.all([p.waitForEvent("filechooser"), p.keyboard.press("Control+o")]);
  await chooser.setFiles({ name: "mine.tsc", mimeType: "", buffer: recording("tiled-16x16x16-t4") });
  await titled(p, "tiled 16×16×16 T=4");
});

onPage("a lesson is dropped with its recording, and walked", kFour, async (p) => {
  await address(p, kFour.hash);
  const lesson = { title: "My own", teaches: "x", stops: [{ file: "mine.tsc", say: "This is step {step}." }] };
  await drop(p, ["mine.json", JSON.stringify(lesson)], ["mine.tsc", recording("tiled-4x4x4-t2")]);
  await says(p, "Lessons screen");
  await p.keyboard.press("Enter");
  await says(p, "My own, stop 1 of 1. This is step 1");
});

onPage("what cannot be opened is a sentence", kFour, async (p) => {
  await address(p, kFour.hash);
  await drop(p, ["a.cu", "int main() {}"]);
  await says(p, "installed on Linux");
  await drop(p, ["bad.tsc", "no recording"]);
  await says(p, "bad.tsc is not a whole Tilescope recording");
});

// By the ending of the name: how the file begins, and how it is asked for.
const kExports = {
  "the picture": [".png", "\x89PNG", (p) => p.keyboard.press("Control+e")],
  "the drawing": [".svg", "<?xml", (p) => p.keyboard.press("Control+Shift+E")],
  "the recording": [".tsc", "\x89TSC", (p) => p.keyboard.press("Control+s")],
  "the requests as CSV": [".csv", "block_x,", (p) => act(p, "export every request as CSV")],
  "the requests as JSON": [".json", "{", (p) => act(p, "export every request as JSON")],
  "the phase table": [".md", "|", (p) => act(p, "phase table as Markdown")],
  "the storyboard": ["storyboard.svg", "<?xml", (p) => act(p, "export storyboard")],
  "the poster": ["poster.svg", "<?xml", (p) => act(p, "export poster")],
};
onBothPages("exports are downloads", kFour, async (p) => {
  await address(p, kFour.hash);
  for (const [what, [ending, begins, deed]] of Object.entries(kExports)) {
    const came = await download(p, () => deed(p));
    assert.ok(came.name.endsWith(ending), `${what} is called ${came.name}`);
    assert.ok(came.bytes.toString("latin1").startsWith(begins), `${what} begins as ${ending} does: ${came.bytes.subarray(0, 8)}`);
  }
  assert.deepEqual(await p.evaluate(() => Module.FS.readdir("/downloads")), [".", ".."], "nothing stays in the page's memory");
  await go(p, "lesson=reuse&stop=1");
  await says(p, "stop 1 of 5");
  const handout = await download(p, () => act(p, "export handout"));
  assert.match(handout.name, /\.html$/);
  assert.ok(handout.bytes.includes("<svg"), "a handout has pictures");
});

onPage("a panel is copied as a picture", { ...kFour, permissions: ["clipboard-read", "clipboard-write"] }, async (p) => {
  await address(p, kFour.hash);
  await p.mouse.move(400, 400);
  await p.keyboard.press("Control+c");
  await says(p, "on the clipboard");
  await until(p, "the clipboard has a picture", async () =>
    (await navigator.clipboard.read()).some((one) => one.types.includes("image/png")));
});
