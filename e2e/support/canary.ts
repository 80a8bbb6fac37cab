/**
 * Canaries are recognizable passwords, secrets and hashes. They are sent into a database in every possible way, and then searched for in
 * all places that store or pass on data (law 7, P1). All hosts use this file: each executes `STEPS` in its own way and searches its own
 * places. To extend it: add a step for a way in, a canary for a kind of secret, or a place for what a host stores.
 */
import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { CREDENTIALS, KEYS, SCHEMA } from './canary-logins.ts';
import { HTTP, VALUES } from './canary-values.ts';
import type { Asked, Canary, Step, Text } from './canary-step.ts';

/** The places that each host must search. Responses to the caller of a step are searched while the step runs. */
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
  /** Name of the row, file or message. */
  readonly what: string;
  readonly around: string;
}

/** Canaries that are known before the first step. */
const WORDS: readonly Canary[] = [
  { name: 'password', text: 'canary-wren7Qx', mayBeIn: [] },
  { name: 'next password', text: 'canary-lark8Vz', mayBeIn: [] },
  { name: 'last password', text: 'canary-robin5Kt', mayBeIn: [] },
  { name: 'wrong password', text: 'canary-finch3Pd', mayBeIn: [] },
  { name: 'password of a call', text: 'canary-stork6Hw', mayBeIn: [] },
  // What an app writes into its own documents is stored, but is in no log.
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

/** Number of characters at the end of a canary that identify it; shorter parts are not searched for. */
const TELLING = 14;

/** Holds the canaries, and records each one that is found where it must not be. */
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

  /** @throws Error if there is no canary with this name yet */
  text(name: string): string {
    const found = this.canaries.find((canary) => canary.name === name);
    if (!found) throw new Error(`There is no canary called ${name} yet.`);
    return found.text;
  }

  /** @param allowed names of canaries that may be here, in addition to those that always may */
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

  /** Places of a host that have not been searched. */
  unvisited(host: keyof typeof PLACES): readonly string[] {
    return PLACES[host].filter((place) => !this.visited.has(place));
  }
}

/** Forms of a canary: unchanged, without its well-known prefix, and as encodings would write it. */
function formsOf(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const tail = text.length > TELLING ? text.slice(-TELLING) : text;
  const shifted = [0, 1, 2].flatMap((shift) => {
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
    // Without the characters that depend on the neighbouring bytes.
    const inner = padded
      .toString('base64')
      .replaceAll('=', '')
      .slice(shift === 0 ? 0 : 4, -3);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const hex = bytes.toString('hex');
  return [...new Set([text, tail, hex, ...shifted])];
}

/** Texts that bytes may contain: with one or two bytes per character, and the text of a gzip file. */
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
    // Only a part of a gzip file.
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

/** Executes all steps and searches their responses. @param send resolves with all that the caller can see, as text */
export async function sendAll(
  cage: Cage,
  send: (asked: Asked) => Promise<{ readonly status: number; readonly text: string }>,
): Promise<void> {
  for (const step of STEPS) {
    const { status, text } = await send(readyStep(step, cage));
    // A step with another outcome than the intended one tests nothing.
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

/** Canaries that the response of a step may contain, also in the messages that carry it. */
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
