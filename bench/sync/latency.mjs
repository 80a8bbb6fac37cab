// Measures the time from a write in one browser to the result of a live query in another.
import { openSide } from './browsers.mjs';

const PAUSE_MS = 60;

/**
 * @typedef {object} Slot
 * @property {string} contender
 * @property {number} round
 * @property {string} pageUrl
 * @property {{ a: import('playwright').BrowserContext, b: import('playwright').BrowserContext }} browsers
 * @property {{ url: string, secret: string }} server
 */

/** Times of each write in ms, seen from both ends. @param {Slot} slot @param {{ warm: number, writes: number }} sizes */
export async function measureLatency({ contender, round, pageUrl, browsers, server }, sizes) {
  const a = await openSide(browsers.a, pageUrl);
  const b = await openSide(browsers.b, pageUrl);
  const options = { url: server.url, secret: server.secret, name: contender };
  const room = `${contender}-${round}`;
  const open = (/** @type {[string, typeof options]} */ [name, given]) =>
    window.bench.open(name, given);
  const title = await a.page.evaluate(open, /** @type {const} */ ([contender, options]));
  await b.page.evaluate(open, /** @type {const} */ ([contender, options]));
  await b.page.evaluate((name) => window.bench.watch(name), room);
  const shown = [];
  const stored = [];
  for (let i = 0; i < sizes.warm + sizes.writes; i++) {
    const text = `${room} ${i}`;
    const seen = b.page.evaluate((given) => window.bench.seenAt(given), text);
    const written = await a.page.evaluate((note) => window.bench.write(note), { room, text });
    const at = await seen;
    if (i >= sizes.warm) {
      shown.push(at - b.clockAhead - (written.begun - a.clockAhead));
      stored.push(written.stored - written.begun);
    }
    // Pauses as users do, in which a contender can finish remaining work.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS + Math.random() * 20));
  }
  await a.close();
  await b.close();
  return { title, shown, stored };
}
