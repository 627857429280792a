// The page around the program: what it asks of the page, and what the page tells it (the end of app/platform/web.cpp).
mergeInto(LibraryManager.library, {
  // Of Linux, which emscripten's C library leaves out.
  getrandom: function (to, bytes) {
    crypto.getRandomValues(HEAPU8.subarray(to, to + bytes));
    return bytes;
  },
  prctl: function () {
    return -1;
  },

  $Page__deps: ["malloc", "free"],
  $Page: {
    drops: 0,          // so far; each has a folder of its own
    latest: [],        // paths that go with the next drop
    now: null,         // what was told last, and what of it is shown
    shown: { words: "", link: null, step: 0 },
    resting: false,    // it was shown a moment ago
    refused: null,     // an address that the browser did not take
    largest: 500e6,    // bytes of a file
    most: 300,         // files of a folder
    longest: 1 << 16,  // characters of a text that is pasted

    // Calls a function of the program with texts and numbers.
    call: function (name) {
      var texts = [], given = Array.prototype.slice.call(arguments, 1).map(function (one) {
        if (typeof one != "string") return one;
        var size = lengthBytesUTF8(one) + 1, at = _malloc(size);
        if (!at) throw new Error("there is no memory left");
        stringToUTF8(one, at, size);
        texts.push(at);
        return at;
      });
      Module["_page_" + name].apply(null, given);
      texts.forEach(_free);
    },
    says: function (sentence) {
      Page.call("said", sentence);
      Page.post({ problem: sentence });
    },

    // --- files come

    folder: function () {
      Page.latest.forEach(function (path) {
        try { FS.unlink(path); } catch (gone) {}
      });
      Page.latest = [];
      var folder = "/files/" + ++Page.drops + "/opened";  // by which lessons are listed
      FS.mkdirTree(folder);
      return folder;
    },
    write: function (path, bytes) {
      FS.writeFile(path, new Uint8Array(bytes), { canOwn: true });
      Page.latest.push(path);
      return path;
    },
    read: function (file) {
      if (file.size > Page.largest) throw new Error(file.name + " is larger than a page can open");
      return file.arrayBuffer();
    },
    // Files [path below the folder, File]: lessons with what lies beside them, else recordings, one or two of them.
    take: async function (files, folders, beside) {
      var folder = Page.folder();
      try {
        for (var i = 0; i < files.length; ++i) {
          var path = folder + "/" + files[i][0];
          FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
          Page.write(path, await Page.read(files[i][1]));
        }
        var given = folders.length ? folders : files.map(function (one) { return one[0]; });
        var lessons = given.filter(function (name) { return folders.length || name.endsWith(".json"); });
        if (lessons.length) Page.latest = [];  // a lesson's recordings are opened as one comes to them
        if (lessons.length > 1 && !folders.length) lessons = [""];
        (lessons.length ? lessons : given).forEach(function (name) {
          // One recording is called as its file is.
          Page.call("given", name ? folder + "/" + name : folder, beside ? 1 : 0,
                    given.length == 1 && !lessons.length ? name : "");
        });
      } catch (why) {
        Page.says("What was given could not be read: " + why.message + ".");
      }
    },
    // What lies in a folder that was dropped, and in those in it: lessons and recordings.
    walk: async function (entry, path, deep, into) {
      if (entry.isFile) {
        if (deep && !/\.(json|tsc)$/.test(entry.name)) return;
        if (into.length >= Page.most) throw new Error("there are more than " + Page.most + " files");
        into.push([path + entry.name, await new Promise(function (yes, no) { entry.file(yes, no); })]);
      } else if (deep < 4) {
        var reader = entry.createReader(), some;
        do {
          some = await new Promise(function (yes, no) { reader.readEntries(yes, no); });
          for (var i = 0; i < some.length; ++i) await Page.walk(some[i], path + entry.name + "/", deep + 1, into);
        } while (some.length);
      }
    },
    drop: async function (data) {
      var entries = [], files = [], folders = [];
      for (var i = 0; i < data.items.length; ++i) {
        var entry = data.items[i].webkitGetAsEntry && data.items[i].webkitGetAsEntry();
        if (entry) entries.push(entry);
      }
      if (!entries.length) return Page.take(Page.named(data.files), folders, false);
      try {
        for (var j = 0; j < entries.length; ++j) {
          await Page.walk(entries[j], "", 0, files);
          if (entries[j].isDirectory) folders.push(entries[j].name);
        }
      } catch (why) {
        return Page.says("What was dropped could not be read: " + why.message + ".");
      }
      Page.take(files, folders, false);
    },
    named: function (files) {
      return Array.from(files).map(function (file) { return [file.name, file]; });
    },

    // --- what is told

    post: function (what) {
      if (window.parent !== window) window.parent.postMessage({ tilescope: what }, "*");
    },
    // At most a few times a second: browsers refuse more changes of the address, and voices do not keep up.
    show: function () {
      if (Page.resting) return;
      var now = Page.now, shown = Page.shown, hash = now.link && "#" + now.link;
      var here = location.hash == hash || Page.refused == hash;
      if (now.words == shown.words && here && now.step == shown.step) return;
      if (now.words != shown.words) document.getElementById("words").textContent = now.words;
      if (!here)
        try { history.replaceState(null, "", hash || "#"); } catch (frame) { Page.refused = hash; }
      Page.post({ step: now.step, block: now.block, caption: now.words, link: now.link });
      Page.shown = now;
      Page.resting = true;
      setTimeout(function () { Page.resting = false; Page.show(); }, 350);
    },
    copy: function (text) {
      var by_hand = function () {
        var field = document.createElement("textarea");
        field.value = text;
        document.body.appendChild(field);
        field.select();
        var good = document.execCommand("copy");
        field.remove();
        Module.canvas.focus();
        if (!good) Page.says("The browser did not let it be copied.");
      };
      if (!navigator.clipboard) return by_hand();
      navigator.clipboard.writeText(text).catch(by_hand);
    },
  },
  // The window and work take turns (web/turns.cpp), each as a call that the browser can suspend, where it can. The browser keeps
  // WebAssembly's own stack of each; of this program's stack, in its memory, each work has one of its own, and `idle` is where
  // it stands while nothing runs.
  $Turns__postset: "Turns.promising = WebAssembly.Suspending ? WebAssembly.promising : null;",
  $Turns: {
    promising: null,
    idle: 0,
    // A moment in which the browser draws and tells of keys; messages among themselves would come before these.
    next: function () {
      return new Promise((resume) => setTimeout(resume, 1));
    },
  },
  page_can_pause__deps: ["$Turns"],
  page_can_pause: function () {
    return Turns.promising ? 1 : 0;
  },
  page_begin__deps: ["$Turns", "free"],
  page_begin: function (call, work, stack, size) {
    const run = wasmTable.get(call);
    if (!stack) {
      run(work);
      return;
    }
    const outer = stackSave();
    stackRestore(stack + size);
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
      run().then((goesOn) => goesOn && requestAnimationFrame(frame), Module.onAbort);
    };
    requestAnimationFrame(frame);
  },
  // By the number of the fetch: bytes, or -1 and -2 as web/fetch.cpp has them. A single file holds in Module.beside what else
  // would be files beside the page.
  $Fetched: [],
  page_fetch_beside__deps: ["$Fetched"],
  page_fetch_beside: function (name, mayWait) {
    const path = UTF8ToString(name), at = Fetched.push(-1) - 1;
    const bytes = (text) => Uint8Array.from(text, (c) => c.charCodeAt(0) & 255);
    if (Module.beside) {
      Fetched[at] = path in Module.beside ? bytes(atob(Module.beside[path])) : -2;
    } else if (mayWait) {
      fetch(path)
        .then((answer) => (answer.ok ? answer.arrayBuffer() : Promise.reject()))
        .then((buffer) => (Fetched[at] = new Uint8Array(buffer)))
        .catch(() => (Fetched[at] = -2));
    } else {
      const request = new XMLHttpRequest();
      request.open("GET", path, false);
      request.overrideMimeType("text/plain; charset=x-user-defined");
      try {
        request.send();
      } catch (error) {}
      Fetched[at] = request.status === 200 ? bytes(request.responseText) : -2;
    }
    return at;
  },
  page_beside_bytes__deps: ["$Fetched"],
  page_beside_bytes: function (at) {
    const found = Fetched[at];
    return typeof found === "number" ? found : found.length;
  },
  page_take_beside__deps: ["$Fetched"],
  page_take_beside: function (at, to) {
    HEAPU8.set(Fetched[at], to);
    delete Fetched[at];
  },

  // Before the first turn.
  page_listen__deps: ["$Page"],
  page_listen: function () {
    FS.mkdirTree("/files");
    var stops = function (event) { event.preventDefault(); };
    document.addEventListener("dragover", stops);
    document.addEventListener("drop", function (event) {
      event.preventDefault();
      Page.drop(event.dataTransfer);
    });
    document.addEventListener("paste", function (event) {
      var data = event.clipboardData;
      if (data.files.length) Page.take(Page.named(data.files), [], false);
      else Page.call("pasted", data.getData("text/plain").slice(0, Page.longest));
    });
    // Of the event: what is shown may have taken the place of the address by now.
    var go = function (address) {
      var link = new URL(address).hash.slice(1);
      if (link && link != Page.shown.link) Page.call("asked", link);
    };
    window.addEventListener("hashchange", function (event) { go(event.newURL); });
    go(location.href);
    // A page that this one is a frame of, or that opened it.
    window.addEventListener("message", function (event) {
      if (!event.source || event.source === window) return;
      if (event.source !== window.parent && event.source !== window.opener) return;
      var answer = function (what) {
        event.source.postMessage(what, event.origin == "null" ? "*" : event.origin);
      };
      if (event.data === "PING") return answer("PONG");
      var sent = event.data && event.data.tilescope;
      if (!sent) return;
      if (typeof sent.link == "string") Page.call("asked", sent.link);
      if (!(sent.buffer instanceof ArrayBuffer)) return;
      var name = String(sent.name || "recording.tsc").replace(/[\/\0]/g, "-").slice(0, 200);
      Page.take([[name, new Blob([sent.buffer])]], [], false);
      answer({ tilescope: { received: name } });
    });
  },

  page_has_keys: function () {
    var active = document.activeElement;
    return !active || active === document.body || active === Module.canvas;
  },
  page_choose__deps: ["$Page"],
  page_choose: function (beside) {
    var input = document.createElement("input");
    input.type = "file";
    input.multiple = !beside;
    input.accept = beside ? ".tsc" : ".tsc,.json,.ptx,.cu";
    input.onchange = function () {
      if (input.files.length) Page.take(Page.named(input.files), [], beside);
    };
    input.click();
  },
  page_fetch__deps: ["$Page"],
  page_fetch: function (at) {
    var address = UTF8ToString(at);
    fetch(new URL(address, location.href).href, { credentials: "omit" }).then(function (answer) {
      if (!answer.ok) throw new Error("its server says " + answer.status);
      if (+answer.headers.get("content-length") > Page.largest) throw new Error("it is larger than a page can open");
      return answer.arrayBuffer();
    }).then(function (bytes) {
      Page.call("given", Page.write(Page.folder() + "/fetched.tsc", bytes), 0, address);
    }).catch(function (why) {
      Page.says("'" + address + "' could not be fetched (" + why.message +
                "); it must be there, and its server must let other pages read it.");
    });
  },

  page_hand_over: function (at) {
    var path = UTF8ToString(at), link = document.createElement("a");
    var types = { png: "image/png", svg: "image/svg+xml", html: "text/html", csv: "text/csv", json: "application/json" };
    var type = types[path.slice(path.lastIndexOf(".") + 1)] || "application/octet-stream";
    link.href = URL.createObjectURL(new Blob([FS.readFile(path)], { type: type }));
    link.download = path.slice(path.lastIndexOf("/") + 1);
    FS.unlink(path);
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 60000);
  },
  page_copy__deps: ["$Page"],
  page_copy: function (text) {
    Page.copy(UTF8ToString(text));
  },
  page_copy_link__deps: ["$Page"],
  page_copy_link: function (link) {
    Page.copy(location.href.split("#")[0] + "#" + UTF8ToString(link));
  },
  page_copy_picture__deps: ["$Page"],
  page_copy_picture: function (bytes, size) {
    if (!navigator.clipboard || !window.ClipboardItem) return 0;
    var picture = new Blob([HEAPU8.slice(bytes, bytes + size)], { type: "image/png" });
    navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]).catch(function (why) {
      Page.says("The browser did not let the picture be copied (" + why.message + "); Ctrl + E saves one.");
    });
    return 1;
  },
  page_full_screen__deps: ["$Page"],
  page_full_screen: function () {
    var all = document.documentElement;
    if (document.fullscreenElement) return void document.exitFullscreen();
    if (!all.requestFullscreen) return Page.says("This browser gives no page the whole screen.");
    all.requestFullscreen().catch(function (why) {
      Page.says("The browser did not give the whole screen (" + why.message + ").");
    });
  },
  page_tell__deps: ["$Page"],
  page_tell: function (step, block, words, link) {
    Page.now = { step: step, block: UTF8ToString(block), words: UTF8ToString(words), link: UTF8ToString(link) };
    Page.show();
  },

  // What is remembered, where the browser lets it.
  page_restore: function (at) {
    var path = UTF8ToString(at);
    try {
      var text = localStorage.getItem("tilescope:" + path);
      if (text === null) return;
      FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      FS.writeFile(path, text);
    } catch (forgets) {}
  },
  page_keep: function (at) {
    var path = UTF8ToString(at);
    try {
      localStorage.setItem("tilescope:" + path, FS.readFile(path, { encoding: "utf8" }));
    } catch (forgets) {}
  },

  page_shown: function () {
    Module.shown();
  },
  page_failed: function (sentence) {
    Module.failed(UTF8ToString(sentence));
  },
});
