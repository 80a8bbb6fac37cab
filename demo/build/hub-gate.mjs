// The proxy between the demo's page and its hub. Each copy of the database has its own path, so that the network of one copy can be cut
// while other copies stay connected: `/hub/<copy>/…` is forwarded to the hub's `/…`, and `/network/<copy>` is the switch.
import { request as ask } from 'node:http';

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */
/** @typedef {{ url: string; notes: import('./hub-notes.mjs').HubNotes }} Hub */

const PATH = /^\/(hub|network)\/([\w-]{8,64})(\/.*)?$/;
/** Headers that are not forwarded. */
const DROPPED = new Set(['host', 'origin', 'referer', 'connection']);

/** @param {Hub | undefined} hub @returns {import('vite').Plugin} */
export function hubGate(hub) {
  const gate = new Gate(hub);
  const middleware = (
    /** @type {Request} */ request,
    /** @type {Response} */ response,
    /** @type {() => void} */ next,
  ) => gate.take(request, response, next);
  return {
    name: 'demo:hub-gate',
    configureServer: (server) => void server.middlewares.use(middleware),
    configurePreviewServer: (server) => void server.middlewares.use(middleware),
  };
}

class Gate {
  /** @param {Hub | undefined} hub */
  constructor(hub) {
    this.hub = hub;
    /** Copies whose network is cut. @type {Set<string>} */
    this.cut = new Set();
    /** Responses in progress, by copy. @type {Map<string, Set<Response>>} */
    this.open = new Map();
  }

  /** @param {Request} request @param {Response} response @param {() => void} next */
  take(request, response, next) {
    const url = request.url ?? '';
    if (url === '/hub/about') {
      answer(response, this.hub?.notes);
      return;
    }
    const [, what, copy = '', path = '/'] = PATH.exec(url) ?? [];
    if (what === 'network') this.turn(request, response, copy);
    else if (what === 'hub') this.pass(request, response, { copy, path });
    else next();
  }

  /** @param {Request} request @param {Response} response @param {string} copy */
  turn({ method, headers }, response, copy) {
    if (method === 'PUT' || method === 'DELETE') {
      // The browser sends a preflight before PUT or DELETE to another origin, so this check is a second line of defence.
      if (headers['sec-fetch-site'] === 'cross-site') {
        response.writeHead(403).end();
        return;
      }
      if (method === 'PUT') this.cut.delete(copy);
      else {
        this.cut.add(copy);
        for (const each of this.open.get(copy) ?? []) each.socket?.destroy();
      }
    }
    answer(response, { isOn: !this.cut.has(copy) });
  }

  /** @param {Request} request @param {Response} response @param {{ copy: string; path: string }} place */
  pass(request, response, { copy, path }) {
    const { hub } = this;
    // As with an unplugged cable, there is no response at all.
    if (this.cut.has(copy) || !hub) {
      request.socket.destroy();
      return;
    }
    const open = this.open.get(copy) ?? new Set();
    this.open.set(copy, open.add(response));
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !DROPPED.has(name)),
    );
    const asked = ask(new URL(path, hub.url), { method: request.method, headers }, (given) => {
      response.writeHead(given.statusCode ?? 502, given.headers);
      response.flushHeaders();
      given.pipe(response);
      given.once('error', () => response.destroy());
    });
    asked.once('error', () => response.socket?.destroy());
    response.once('close', () => {
      open.delete(response);
      asked.destroy();
    });
    request.pipe(asked);
  }
}

/** @param {Response} response @param {object | undefined} body */
function answer(response, body) {
  response.writeHead(body ? 200 : 503, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  response.end(JSON.stringify(body ?? {}));
}
