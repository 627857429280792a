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
  page_shown: function () {
    Module.shown();
  },
  page_failed: function (sentence) {
    Module.failed(UTF8ToString(sentence));
  },
});
