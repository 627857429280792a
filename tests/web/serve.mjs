// A server of static files, such as any course has: it knows no header of its own. Of a throttled one all answers together
// come at `bits` a second, and each begins `delay` ms after it was asked for.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";

const kTypes = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const kPiece = 16384; // bytes

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Files of `folder` as /tilescope/, and those of `more`: { "/name": text or bytes }.
export async function serve(folder, { more = {}, bits = Infinity, delay = 0 } = {}) {
  let free = 0; // when the line has given all that was asked of it, ms
  const server = http.createServer(async (request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://here").pathname);
    const file = path.normalize(name.endsWith("/") ? name + "index.html" : name);
    let bytes = more[name];
    try {
      bytes ??= fs.readFileSync(path.join(folder, path.relative("/tilescope", file)));
    } catch {
      response.writeHead(404).end();
      return;
    }
    bytes = Buffer.from(bytes);
    if (delay) await pause(delay);
    response.writeHead(200, {
      "Content-Type": kTypes[path.extname(file)] ?? "application/octet-stream",
      "Content-Length": bytes.length,
      "Cache-Control": "max-age=600",
    });
    for (let at = 0; at < bytes.length; at += kPiece) {
      const piece = bytes.subarray(at, at + kPiece);
      free = Math.max(free, performance.now()) + (piece.length * 8000) / bits;
      const early = free - performance.now();
      if (early > 1) await pause(early);
      response.write(piece);
    }
    response.end();
  });
  await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
  return { site: `http://127.0.0.1:${server.address().port}/tilescope/`, close: () => server.close() };
}
