// Lessons by the keyboard alone, followed by the text that the page has of them.
import assert from "node:assert/strict";
import { address, onBothPages, onPage, says, told } from "./page.mjs";

onBothPages("a newcomer walks the first lesson to its question", { hash: "" }, async (p) => {
  for (let stop = 1; stop <= 3; ++stop) {
    await says(p, `stop ${stop} of`);
    await p.keyboard.press("PageDown");
  }
  await says(p, "stop 4 of");
  await p.keyboard.press("PageUp");
  await says(p, "stop 3 of");
});

onBothPages("a question is asked, answered and judged in words", { hash: "#lesson=reuse&stop=2" }, async (p) => {
  await says(p, "How often is each element of M and N loaded?");
  assert.ok(!(await told(p)).words.includes("128 loads"), "what gives it away is not said before");
  await p.keyboard.type("4");
  await says(p, "Typed: 4");
  await p.keyboard.press("Enter");
  await says(p, "Right: 4 loads");
  await says(p, "cost 128 loads, 4 for each of them");
  await p.keyboard.press("PageDown");
  await says(p, "stop 3 of 5");
  await says(p, "1 of 1 right");
});

onPage("a wrong answer is told what is right", { hash: "#lesson=reuse&stop=2" }, async (p) => {
  await says(p, "How often is each element");
  await p.keyboard.type("3");
  await says(p, "Typed: 3");
  await p.keyboard.press("Enter");
  await says(p, "cost 128 loads");
  assert.ok(!(await told(p)).words.includes("Right:"));
  await p.keyboard.press("PageDown");
  await says(p, "0 of 1 right");
});

onPage("a lesson is chosen and left", { hash: "#t=tiled-4x4x4-t2&step=5" }, async (p) => {
  await address(p, "#t=tiled-4x4x4-t2&step=5");
  await p.keyboard.press("7");
  await says(p, "Lessons screen");
  await p.keyboard.press("Home");
  await p.keyboard.press("Enter");
  await address(p, "#lesson=first&stop=1");
  await p.keyboard.press("Escape");
  await address(p, "#kernel=tiled&m=4&k=4&n=4&tile=2&step=1"); // the lecture's product
});
