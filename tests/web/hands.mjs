// Keys, wheel, mouse and fingers.
import assert from "node:assert/strict";
import { act, address, difference, onBothPages, onPage, still, titled, until } from "./page.mjs";

const kStep = { hash: "#t=tiled-64x64x64-t16&step=70" };

onBothPages("keys walk, choose screens and play", kStep, async (p) => {
  await titled(p, "step 70 of");
  await p.keyboard.press("ArrowRight");
  await address(p, "#t=tiled-64x64x64-t16&step=71");
  for (let i = 0; i < 40; ++i) await p.keyboard.press("ArrowRight");
  await address(p, "#t=tiled-64x64x64-t16&step=111");
  await p.keyboard.press("Home");
  await address(p, "#t=tiled-64x64x64-t16&step=1");
  await p.keyboard.press("4");
  await address(p, "#t=tiled-64x64x64-t16&screen=timing&step=1");
  await p.keyboard.press("1");
  await p.keyboard.press("Space");
  await until(p, "it plays on to step 4", () => +/step=(\d+)/.exec(location.hash)?.[1] > 3);
});

onBothPages("an action is found by words of it", kStep, async (p) => {
  await act(p, "step 12");
  await address(p, "#t=tiled-64x64x64-t16&step=12");
  await act(p, "screen timing");
  await address(p, "#t=tiled-64x64x64-t16&screen=timing&step=12");
});

onPage("the page's keys are its own, and the browser keeps the others", kStep, async (p) => {
  const taken = ([key, control]) =>
    p.evaluate(
      ([key, ctrlKey]) => {
        const code = key.length === 1 ? "Key" + key.toUpperCase() : key;
        const press = new KeyboardEvent("keydown", { key, code, ctrlKey, bubbles: true, cancelable: true });
        Module.canvas.dispatchEvent(press);
        Module.canvas.dispatchEvent(new KeyboardEvent("keyup", { key, code, ctrlKey, bubbles: true }));
        return press.defaultPrevented;
      },
      [key, control]
    );
  for (const key of ["k", "e", "p", "ArrowRight"]) {
    assert.ok(await taken([key, true]), `Control + ${key} is the page's`);
    await p.keyboard.press("Escape");
  }
  for (const key of ["r", "t", "w", "n", "l", "f", "v", "q", "d", "h", "j"])
    assert.ok(!(await taken([key, true])), `Control + ${key} is the browser's`);
  for (const key of ["F1", "F5", "F11", "F12"]) assert.ok(!(await taken([key, false])), `${key} is the browser's`);
});

onPage("Z fills the screen", kStep, async (p) => {
  await p.keyboard.press("z");
  await until(p, "it fills the screen", () => document.fullscreenElement !== null);
  await p.keyboard.press("z");
  await until(p, "it no longer does", () => document.fullscreenElement === null);
});

onPage("the wheel zooms at the mouse", kStep, async (p) => {
  await address(p, kStep.hash);
  await p.mouse.move(500, 400);
  const before = await still(p);
  await p.mouse.wheel(0, -300);
  const near = await still(p);
  assert.ok((await difference(p, before, near)) > 0.02, "the picture is another");
  await p.mouse.wheel(0, 300);
  const back = await still(p);
  assert.ok((await difference(p, near, back)) > 0.02, "and another again");
  await address(p, kStep.hash);
});

onPage("a click on a tab shows its screen", kStep, async (p) => {
  await p.mouse.click(200, 21);
  await until(p, "another screen is shown", () => location.hash.includes("screen="));
});

const kTablet = { viewport: { width: 820, height: 1180 }, deviceScaleFactor: 2, hasTouch: true };

onPage("fingers tap, drag and pinch", { ...kStep, ...kTablet }, async (p) => {
  await address(p, kStep.hash);
  assert.deepEqual(await p.evaluate(() => [Module.canvas.width, Module.canvas.height]), [1640, 2360], "every pixel is used");
  const cdp = await p.context().newCDPSession(p);
  const touch = (type, ...points) =>
    cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const drawn = async (what, deed) => {
    const before = await still(p);
    await deed();
    const differs = await difference(p, before, await still(p));
    assert.ok(differs > 0.02, `${what} changes the picture, not only ${differs} of it`);
    await address(p, kStep.hash); // and clicks on nothing
  };
  await drawn("a pinch", async () => {
    await touch("touchStart", [300, 400]);
    await touch("touchStart", [300, 400], [340, 400]);
    for (let i = 1; i < 12; ++i) await touch("touchMove", [300 - i * 5, 400], [340 + i * 5, 400]);
    await touch("touchEnd");
  });
  for (let i = 0; i < 3; ++i) await p.keyboard.press("p"); // the product as a solid, which a drag turns
  await drawn("a drag", async () => {
    await touch("touchStart", [300, 400]);
    for (let i = 1; i < 12; ++i) await touch("touchMove", [300 + i * 8, 400 + i * 4]);
    await touch("touchEnd");
  });
  await p.touchscreen.tap(200, 21);
  await until(p, "a tap on a tab shows its screen", () => location.hash.includes("screen="));
});
