// What the page draws is what the native program draws: every screen, stops of ten lessons, figures, the race and the cube, but for
// rounding in two implementations of OpenGL. TILESCOPE_PICTURES names a folder that takes both and those of a tablet, to be looked at.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { act, context, difference, drop, native, open, recording, still, titled, until } from "./page.mjs";

const kTile = "tiled-64x64x64-t16", kOther = "untiled-64x64x64-t16";
const screen = (name, at = 70) => ({
  name: `screen_${name}`,
  hash: `#t=${kTile}&screen=${name}&step=${at}`,
  args: [kTile, "--screen", name, "--at", `${at}`],
});
const themed = (theme) => ({
  name: `step_${theme}`,
  hash: `#t=${kTile}&step=70&theme=${theme}`,
  args: [kTile, "--at", "70", "--theme", theme],
});
const stop = (lesson, number) => ({
  name: `lesson_${lesson}_${number}`,
  hash: `#lesson=${lesson}&stop=${number}`,
  args: ["--lesson", lesson, "--stop", `${number}`],
});

const kPictures = [
  ...["step", "timing", "levels", "limits", "lessons"].map((name) => screen(name)),
  {
    name: "race",
    hash: `#t=${kTile}&screen=race`,
    title: "tiled 64",
    does: async (p) => {
      await still(p); // the other recording has come
      await p.keyboard.press("End");
    },
    args: [kTile, "--screen", "race", "--at", "last"],
  },
  {
    name: "compare",
    hash: `#t=${kTile}`,
    title: "tiled 64",
    does: async (p) => {
      await drop(p, [`${kTile}.tsc`, recording(kTile)], [`${kOther}.tsc`, recording(kOther)]);
      await until(p, "it compares", () => location.hash.includes("screen=compare"));
    },
    args: [kTile, "--screen", "compare", "--with", kOther],
  },
  themed("dark"),
  { name: "step_lecture", hash: `#t=${kTile}&step=70&lecture=1`, args: [kTile, "--at", "70", "--lecture"] },
  {
    name: "cube",
    hash: `#t=${kTile}&step=70`,
    title: "step 70 of",
    does: (p) => act(p, "a block is a column of it"),
    args: [kTile, "--at", "70", "--do", "cube"],
  },
  ...[["reuse", 1], ["phases", 2], ["coalescing", 1], ["banks", 1], ["barriers", 1], ["race", 1], ["turning", 1], ["stale", 1],
      ["first", 1], ["shuffles", 1]].map(([lesson, number]) => stop(lesson, number)),
  // Figures stand in lessons.
  ...[["blocks", 1], ["bursts", 1], ["gate", 1], ["latency", 1]].map(([lesson, number]) => stop(lesson, number)),
];
// Where a line lies between two pixels, or text is smoothed, implementations may choose either.
const kLevels = 15, kDiffers = 0.001;
const kPatience = 60000; // ms, for what is worked out beside the window

const folder = process.env.TILESCOPE_PICTURES ?? fs.mkdtempSync(path.join(os.tmpdir(), "tilescope-"));
fs.mkdirSync(folder, { recursive: true });
after(() => process.env.TILESCOPE_PICTURES ?? fs.rmSync(folder, { recursive: true }));

// What the page draws, and how much of it differs from `wanted`, once nothing is worked out any more.
async function drawn(options, { hash, title, does }, wanted) {
  const made = await context(options);
  try {
    const p = await open(made, hash);
    if (title) await titled(p, title); // the link has arrived
    await does?.(p);
    const began = Date.now();
    for (;;) {
      const got = await still(p);
      const differs = wanted ? await difference(p, got, wanted, kLevels) : 0;
      if (differs <= kDiffers || Date.now() > began + kPatience) return { got, differs };
    }
  } finally {
    await made.close();
  }
}

for (const picture of kPictures)
  test(`${picture.name} is drawn as by the native program`, async () => {
    const file = path.join(folder, picture.name);
    execFileSync(native, ["render", ...picture.args, "--size", "1280x800", "-o", `${file}_native.png`], { stdio: "pipe" });
    const { got, differs } = await drawn({}, picture, fs.readFileSync(`${file}_native.png`));
    fs.writeFileSync(`${file}.png`, got);
    if (process.env.TILESCOPE_PICTURES) {
      const tablet = { viewport: { width: 820, height: 1180 }, deviceScaleFactor: 2, hasTouch: true };
      fs.writeFileSync(`${file}_tablet.png`, (await drawn(tablet, picture)).got);
    }
    assert.ok(differs <= kDiffers, `${(100 * differs).toFixed(2)} % of the pixels differ`);
  });
