/**
 * Canaries: recognisable passwords, secrets and hashes that are sent along every way into a database, and are then looked for wherever
 * something is kept or passed on (law 7, P1). Used by every host: each runs `STEPS` in its own way and looks in its own places.
 * To extend it: a way in is a step, a kind of secret is a canary, and what a host keeps is a place.
 */
import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { CREDENTIALS, KEYS, SCHEMA } from './canary-logins.ts';
import { HTTP, VALUES } from './canary-values.ts';
import type { Asked, Canary, Step, Text } from './canary-step.ts';

/** Where each host must look. What a step answers to its own caller is looked at while it runs. */
export const PLACES = {
  memory: ['answers', 'rows', 'log export', 'reports'],
  browser: [
    'answers',
    'indexeddb',
    'cache storage',
    'private files',
    'web storage',
    'log export',
    'worker messages',
    'tab messages',
    'service worker messages',
    'console',
    'addresses',
  ],
} as const satisfies Record<string, readonly string[]>;

export interface Finding {
  readonly canary: string;
  readonly place: string;
  /** Which row, file or message. */
  readonly what: string;
  readonly around: string;
}

/** Known before anything is asked. */
const WORDS: readonly Canary[] = [
  { name: 'password', text: 'canary-wren7Qx', mayBeIn: [] },
  { name: 'next password', text: 'canary-lark8Vz', mayBeIn: [] },
  { name: 'last password', text: 'canary-robin5Kt', mayBeIn: [] },
  { name: 'wrong password', text: 'canary-finch3Pd', mayBeIn: [] },
  { name: 'password of a call', text: 'canary-stork6Hw', mayBeIn: [] },
  // What an app writes into its own documents is kept, but in no log.
  { name: 'password in data', text: 'canary-crane9Bf', mayBeIn: ['documents'] },
  { name: 'unknown secret', text: `fnAE${'canaryheron2Jm'.repeat(3)}`.slice(0, 40), mayBeIn: [] },
  {
    name: 'access token',
    text: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnktb3dsIn0.Y2FuYXJ5LW93bC1zaWduYXR1cmU',
    mayBeIn: [],
  },
  {
    name: 'imported hash',
    text: '$2a$04$canaryegret4Rn1111111.e3VrUtYlmZTvGjNUXSYbGdUbTd5kFC6',
    mayBeIn: ['documents'],
  },
];

/** Shorter parts of a secret name nothing. */
const TELLING = 14;

/** Holds the canaries, and says where one was found that does not belong there. */
export class Cage {
  readonly findings: Finding[] = [];
  readonly visited = new Set<string>();
  private readonly canaries: Canary[] = [];
  private readonly forms = new Map<string, readonly string[]>();

  constructor() {
    for (const word of WORDS) this.add(word);
  }

  add(canary: Canary): void {
    this.canaries.push(canary);
    this.forms.set(canary.name, formsOf(canary.text));
  }

  /** @throws Error when there is none of that name yet */
  text(name: string): string {
    const found = this.canaries.find((canary) => canary.name === name);
    if (!found) throw new Error(`There is no canary called ${name} yet.`);
    return found.text;
  }

  /** @param allowed names of canaries that belong there beside those that always do */
  look(
    place: string,
    what: string,
    held: string | Uint8Array,
    allowed: readonly string[] = [],
  ): void {
    this.visited.add(place);
    for (const text of textsOf(held)) {
      for (const { name, mayBeIn } of this.canaries) {
        if (allowed.includes(name) || mayBeIn.includes(what) || mayBeIn.includes(place)) continue;
        const form = this.forms.get(name)?.find((each) => text.includes(each));
        if (form === undefined) continue;
        const at = text.indexOf(form);
        const around = text.slice(Math.max(0, at - 80), at + form.length + 40);
        this.findings.push({ canary: name, place, what, around });
      }
    }
  }

  /** Of the places of a host, those where nobody has looked. */
  unvisited(host: keyof typeof PLACES): readonly string[] {
    return PLACES[host].filter((place) => !this.visited.has(place));
  }
}

/** As it stands, without its well-known beginning, and as encodings would write it. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const tail = text.length > TELLING ? text.slice(-TELLING) : text;
  const shifted = [0, 1, 2].flatMap((shift) => {
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
    // Without the characters that depend on what stands before and behind.
    const inner = padded
      .toString('base64')
      .replaceAll('=', '')
      .slice(shift === 0 ? 0 : 4, -3);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  return [...new Set([text, tail, hex, ...shifted])];
}

/** What bytes may say: as text of one or two bytes a character, and what is packed in them. */
function textsOf(held: string | Uint8Array): readonly string[] {
  if (typeof held === 'string') return [held];
  const bytes = Buffer.from(held);
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b ? unpack(bytes) : [];
  return [bytes.toString('latin1'), bytes.toString('utf16le'), ...packed];
}

function unpack(bytes: Buffer): readonly string[] {
  try {
    return [gunzipSync(bytes).toString('utf8')];
  } catch {
    // Part of a file.
    return [];
  }
}

export const STEPS: readonly Step[] = [
  ...SCHEMA,
  ...KEYS.slice(0, 2),
  ...CREDENTIALS,
  ...KEYS.slice(2),
  ...VALUES,
  ...HTTP,
];

/** Sends every step, and looks at what each answers. @param send resolves with all that its caller gets to see, as text */
export async function sendAll(
  cage: Cage,
  send: (asked: Asked) => Promise<{ readonly status: number; readonly text: string }>,
): Promise<void> {
  for (const step of STEPS) {
    const { status, text } = await send(readyStep(step, cage));
    // A step that comes to something else proves nothing.
    const isMeant = step.fails === undefined ? status < 300 : status === step.fails;
    if (!isMeant) throw new Error(`${step.name} answered ${status} ${text}`);
    const brought: string[] = [];
    for (const { at, ...canary } of step.brings ?? []) {
      const found = valueAt(text, at);
      if (found === undefined) throw new Error(`${step.name} brought no ${canary.name}: ${text}`);
      cage.add({ ...canary, text: found });
      brought.push(canary.name);
    }
    cage.look('answers', step.name, text, [...brought, ...(step.answers ?? [])]);
  }
}

function readyStep(step: Step, cage: Cage): Asked {
  const { name, as = 'root secret', scope = '', by = 'query', scheme = 'Bearer' } = step;
  const text: Text = (canary) => cage.text(canary);
  return {
    name,
    by,
    scheme,
    secret: cage.text(as) + scope,
    query: step.raw?.(text) ?? JSON.stringify(step.query?.(text) ?? null),
    path: step.path?.(text),
    headers: step.headers?.(text) ?? {},
  };
}

/** Which canaries the answer of a step may carry: over the ways it takes, too. */
export const allowedIn = (name: string): readonly string[] => {
  const step = STEPS.find((each) => each.name === name);
  return [...(step?.answers ?? []), ...(step?.brings ?? []).map((canary) => canary.name)];
};

function valueAt(text: string, path: string): string | undefined {
  let value: unknown = (JSON.parse(text) as { readonly resource?: unknown }).resource;
  for (const step of path.split('.')) {
    value = Array.isArray(value)
      ? (value[Number(step)] as unknown)
      : (value as Readonly<Record<string, unknown>> | undefined)?.[step];
  }
  return typeof value === 'string' ? value : undefined;
}
