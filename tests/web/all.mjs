// Every test of the page, one after the other:  node --test-reporter=spec tests/web/all.mjs  [THEME...]
// TILESCOPE_PAGE: the folder of the page (build/web); TILESCOPE: the native program (build/tilescope).
const kThemes = ["loading", "hands", "links", "files", "lessons", "frames", "hostile", "identity", "pictures", "firefox"];
for (const theme of process.argv.length > 2 ? process.argv.slice(2) : kThemes) await import(`./${theme}.mjs`);
