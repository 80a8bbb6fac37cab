// Many devices in one process. Each says hello, loads its set, listens on a WebSocket, and applies the changes in hints or pulls them.
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { WebSocket } from 'ws';

/** @typedef {{ url: string; devices: number; rooms: readonly { token: string; set: string }[] }} Crowd */
/** @typedef {{ room: number; ts: number; atMs: number }} Commit */

const OPENED_AT_ONCE = 32;
const agent = new Agent({ keepAlive: true, maxSockets: OPENED_AT_ONCE });

/** @param {string} url @param {string} token @param {object} message @returns {Promise<any>} */
const post = (url, token, message) =>
  new Promise((resolve, reject) => {
    const asked = request(url, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${token}` },
    });
    asked.on('error', reject).on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => (text += part));
      answer.on('end', () => {
        const value = JSON.parse(text);
        if (answer.statusCode === 200) resolve(value);
        else reject(new Error(`${answer.statusCode} ${text}`));
      });
    });
    asked.end(JSON.stringify(message));
  });

class Device {
  /** Stored documents by collection and id. @type {Map<string, string>} */
  documents = new Map();
  cursor = 0;
  isPulling = false;
  /** Changes that hints brought, in order. @type {{ since: number; pulled: any }[]} */
  brought = [];
  mustPull = false;
  id = randomBytes(16).toString('hex');

  /** @param {string} url @param {number} room @param {Crowd['rooms'][number]} of @param {() => void} onMoved */
  constructor(url, room, of, onMoved) {
    this.url = url;
    this.room = room;
    this.token = of.token;
    this.onMoved = onMoved;
    /** @type {any} */
    this.asked = { sets: [{ id: 's', query: of.set, loaded: 'nothing' }] };
  }

  async open() {
    const hello = { protocol: 2, device: this.id, lastSeq: 0 };
    const { epoch } = await post(`${this.url}/sync/hello`, this.token, hello);
    this.asked = { ...this.asked, device: this.id, epoch, refetch: [], settled: 0 };
    await this.listen();
    await this.catchUp();
  }

  async pull() {
    for (let isWhole = false; !isWhole;) {
      const pulled = await post(`${this.url}/sync/pull`, this.token, {
        ...this.asked,
        maxBytes: 1_000_000,
      });
      this.take(pulled);
      isWhole =
        !pulled.more &&
        pulled.sets.every((/** @type {any} */ { loaded }) =>
          loaded.every((/** @type {any} */ place) => place === null || place === undefined),
        );
    }
  }

  /** @param {any} pulled */
  take({ cursor, token, schema, puts, leaves, sets }) {
    for (const [collection, id, stored] of puts) this.documents.set(`${collection}/${id}`, stored);
    for (const [collection, id] of leaves) this.documents.delete(`${collection}/${id}`);
    const { asked } = this;
    this.asked = {
      ...asked,
      cursor,
      token,
      schema: schema?.version ?? asked.schema,
      sets: asked.sets.map((/** @type {any} */ set, /** @type {number} */ i) => ({
        ...set,
        loaded: sets[i].loaded,
        parts: sets[i].parts,
      })),
    };
    this.cursor = cursor;
    this.onMoved();
  }

  listen() {
    return new Promise((resolve, reject) => {
      this.socket = new WebSocket(`${this.url.replace('http', 'ws')}/sync/line`);
      this.socket.on('error', reject);
      this.socket.on('open', () =>
        this.socket?.send(JSON.stringify({ open: { token: this.token, device: this.id } })),
      );
      this.socket.on('message', (text) => {
        const { opened, poke, refused } = JSON.parse(/** @type {Buffer} */ (text).toString());
        if (opened) resolve(undefined);
        else if (refused) reject(new Error(JSON.stringify(refused)));
        else if (poke) this.hear(poke);
      });
    });
  }

  /** @param {any} poke */
  hear({ head, brought }) {
    if (head <= this.cursor) return;
    counts.hints += 1;
    if (brought) this.brought.push(brought);
    if (this.isPulling) this.mustPull ||= !brought;
    else if (!this.takeBrought() || !brought) void this.catchUp();
  }

  /** Applies changes that continue from the device's cursor. Returns whether all of them did. */
  takeBrought() {
    for (const { since, pulled } of this.brought.splice(0)) {
      if (pulled.cursor <= this.cursor) continue;
      if (since !== this.cursor) return false;
      counts.brought += 1;
      this.take(pulled);
    }
    return true;
  }

  async catchUp() {
    this.mustPull = true;
    if (this.isPulling) return;
    this.isPulling = true;
    while (this.mustPull) {
      this.mustPull = false;
      counts.pulls += 1;
      await this.pull().catch((reason) => console.error(String(reason)));
      this.mustPull ||= !this.takeBrought();
    }
    this.isPulling = false;
  }
}

const counts = { hints: 0, brought: 0, pulls: 0 };
/** @type {Device[]} */
const devices = [];
/** @type {Crowd | undefined} */
let crowd;
/** Commits that at least one device does not have yet. @type {(Commit & { left: number })[]} */
let waiting = [];
/** @type {number[]} */
const delays = [];

function settle() {
  waiting = waiting.filter((commit) => {
    if (devices.some(({ room, cursor }) => room === commit.room && cursor < commit.ts)) return true;
    delays.push(Math.max(0, Date.now() - commit.atMs));
    return false;
  });
}

/** Whether a check is scheduled: it runs once, after all messages that arrived together. */
let isDue = false;
const settleSoon = () => {
  if (isDue) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    settle();
  });
};

/** Opens one new device for each room, which reads the current state. */
async function freshDevices() {
  const { url = '', rooms = [] } = crowd ?? {};
  const fresh = rooms.map((of, room) => new Device(url, room, of, () => undefined));
  for (const device of fresh) await device.open();
  return fresh;
}

/** @type {Record<string, (message: any) => Promise<object | void>>} */
const handlers = {
  /** @param {Crowd} opened */
  async open(opened) {
    crowd = opened;
    const { url, devices: count, rooms } = opened;
    for (let n = 0; n < count; n++) {
      const room = n % rooms.length;
      const of = rooms[room];
      if (of) devices.push(new Device(url, room, of, settleSoon));
    }
    const next = devices[Symbol.iterator]();
    const opening = Array.from({ length: OPENED_AT_ONCE }, async () => {
      for (const device of next) await device.open();
    });
    await Promise.all(opening);
    return { opened: devices.length };
  },
  /** @param {Commit} commit */
  async commit(commit) {
    waiting.push({ ...commit, left: 0 });
    settleSoon();
  },
  async waiting() {
    settle();
    return { waiting: waiting.length };
  },
  async results() {
    const documents = [...devices, ...(await freshDevices())].map(({ room, documents }) => ({
      room,
      count: documents.size,
      text: [...documents]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, stored]) => stored)
        .join('\n'),
    }));
    /** @type {Map<number, Set<string>>} */
    const byRoom = new Map();
    for (const { room, text } of documents)
      byRoom.set(room, (byRoom.get(room) ?? new Set()).add(text));
    return {
      delays,
      counts,
      differing: [...byRoom.values()].filter(({ size }) => size > 1).length,
      perRoom: Object.fromEntries(documents.map(({ room, count }) => [room, count])),
    };
  },
};

/** @param {any} message */
async function handle({ type, n, ...message }) {
  try {
    const answer = await handlers[type]?.(message);
    if (n !== undefined) process.send?.({ n, answer });
  } catch (reason) {
    process.send?.({ n, failed: String(reason) });
  }
}

process.on('message', (message) => void handle(message));
