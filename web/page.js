// What the program asks of the page that it runs in.
mergeInto(LibraryManager.library, {
  // Of Linux, which emscripten's C library leaves out.
  getrandom: function (to, bytes) {
    crypto.getRandomValues(HEAPU8.subarray(to, to + bytes));
    return bytes;
  },
  prctl: function () {
    return -1;
  },
  page_copy: function (text) {
    if (navigator.clipboard) navigator.clipboard.writeText(UTF8ToString(text));
  },
  // The window and work take turns (web/turns.cpp), each as a call that the browser can suspend, where it can. The browser keeps
  // WebAssembly's own stack of each; of this program's stack, in its memory, each work has one of its own, and `idle` is where
  // it stands while nothing runs.
  $Turns: {
    promising: typeof WebAssembly.Suspending === "function" ? WebAssembly.promising : null,
    idle: 0,
    waiting: [],
    channel: null,
    next: function () {
      if (!Turns.channel) {
        Turns.channel = new MessageChannel();
        Turns.channel.port1.onmessage = () => Turns.waiting.shift()();
      }
      return new Promise((resume) => {
        Turns.waiting.push(resume);
        Turns.channel.port2.postMessage(0);
      });
    },
  },
  page_can_pause__deps: ["$Turns"],
  page_can_pause: function () {
    return Turns.promising ? 1 : 0;
  },
  page_begin__deps: ["$Turns", "malloc", "free"],
  page_begin: function (call, work) {
    const run = wasmTable.get(call);
    if (!Turns.promising) {
      run(work);
      return;
    }
    const kStack = 1 << 20, outer = stackSave(), stack = _malloc(kStack);
    stackRestore(stack + kStack);
    Turns.promising(run)(work).then(() => {
      _free(stack);
      stackRestore(Turns.idle);
    }, Module.onAbort);
    stackRestore(outer);
  },
  page_pause__deps: ["$Turns"],
  page_pause__postset: "if (Turns.promising) _page_pause = new WebAssembly.Suspending(_page_pause);",
  page_pause: async function (window) {
    const mine = stackSave(), before = Turns.idle;
    if (window) Turns.idle = mine;
    stackRestore(Turns.idle);
    await Turns.next();
    if (window) Turns.idle = before;
    stackRestore(mine);
  },
  page_loop__deps: ["$Turns"],
  page_loop: function (call) {
    const turn = wasmTable.get(call), run = Turns.promising ? Turns.promising(turn) : async () => turn();
    const base = (Turns.idle = stackSave());
    const frame = () => {
      stackRestore(base);
      run().then(() => requestAnimationFrame(frame), Module.onAbort);
    };
    requestAnimationFrame(frame);
  },
  // A single file holds in Module.beside what else would be files beside the page.
  $Fetched: {},
  page_fetch__deps: ["$Fetched"],
  page_fetch: function (name, mayWait) {
    const path = UTF8ToString(name);
    Fetched[path] = -1;
    const bytes = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0) & 255);
    if (Module.beside) {
      Fetched[path] = path in Module.beside ? bytes(atob(Module.beside[path])) : -2;
    } else if (mayWait) {
      fetch(path)
        .then((answer) => (answer.ok ? answer.arrayBuffer() : Promise.reject()))
        .then((buffer) => (Fetched[path] = new Uint8Array(buffer)))
        .catch(() => (Fetched[path] = -2));
    } else {
      const request = new XMLHttpRequest();
      request.open("GET", path, false);
      request.overrideMimeType("text/plain; charset=x-user-defined");
      try {
        request.send();
      } catch (error) {}
      Fetched[path] = request.status === 200 ? bytes(request.responseText) : -2;
    }
  },
  page_fetched__deps: ["$Fetched"],
  page_fetched: function (name) {
    const found = Fetched[UTF8ToString(name)];
    return found.length || found;
  },
  page_take__deps: ["$Fetched"],
  page_take: function (name, to) {
    const path = UTF8ToString(name);
    HEAPU8.set(Fetched[path], to);
    delete Fetched[path];
  },
  page_shown: function () {
    Module.shown();
  },
  page_failed: function (sentence) {
    Module.failed(UTF8ToString(sentence));
  },
});
