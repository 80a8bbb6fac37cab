/** A whole engine for tests: memory store, a clock that is told the time, hashing that costs nothing. */
import { createHash } from 'node:crypto';
import { sha256 } from './sha256.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import type { ApiVersion } from '../../query/session.ts';
import type { Micros } from '../../values/value.ts';
import type { EngineOptions, QueryAnswer } from '../context/host.ts';
import type { Engine } from '../engine.ts';
import { createEngine } from '../engine.ts';
import type { DetachedOption } from '../transactions/detached.ts';

export const ROOT = 'root-secret';

export interface QueryOptions {
  readonly secret?: string;
  readonly apiVersion?: ApiVersion;
}

/** A wire query as a JavaScript object. */
export type Query = unknown;

export interface Fault {
  readonly code: string;
  readonly position: readonly (string | number)[];
  readonly description: string;
  readonly failures?: readonly { readonly field: readonly string[]; readonly code: string }[];
}

/** A document as answered; not all of its members are there. */
export interface Resource {
  readonly ref: { readonly '@ref': { readonly id: string } };
  readonly ts: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly ttl: { readonly '@ts': string };
  readonly secret: string;
  readonly hashed_secret: string;
}
interface EventAnswer {
  readonly action: string;
  readonly data: unknown;
}

export class EngineWorld {
  /** How often a password was compared with a hash, or with nobody's. */
  verifications = 0;
  /** 2026-01-01; moves on by a second with every query. */
  now: Micros = 1_767_225_600_000_000;
  readonly store: Store;
  readonly engine: Engine;
  private seed = 0;

  /**
   * @param store another engine may be on it too
   * @param options what this one has otherwise
   */
  constructor(
    store: Store = createMemoryStore(),
    options: Partial<EngineOptions & DetachedOption> = {},
  ) {
    this.store = store;
    this.engine = createEngine({
      store: this.store,
      clock: () => this.now,
      random: (count) => this.random(count),
      sha256,
      passwords: {
        hash: (password, cost) => Promise.resolve(fakeHash(password, cost)),
        verify: (password, hash) => {
          this.verifications += 1;
          return Promise.resolve(hash !== undefined && fakeHash(password, 10) === hash);
        },
      },
      hashCost: 10,
      durability: 'relaxed',
      rootSecret: ROOT,
      regionGroup: 'local',
      pause: () => Promise.resolve(),
      ...options,
    });
  }

  answer(
    query: Query,
    { secret = ROOT, apiVersion = '4' }: QueryOptions = {},
  ): Promise<QueryAnswer> {
    this.now += 1_000_000;
    return this.engine.query({ secret, query: JSON.stringify(query), apiVersion, allows: 'write' });
  }

  /** The resource. Throws what was answered instead. */
  async ask(query: Query, asked?: QueryOptions): Promise<unknown> {
    const { status, body } = await this.answer(query, asked);
    if (status >= 300) throw new Error(`${status} ${body}`);
    return (JSON.parse(body) as { resource: unknown }).resource;
  }

  /** A resource that is a document. */
  document(query: Query, asked?: QueryOptions): Promise<Resource> {
    return this.ask(query, asked) as Promise<Resource>;
  }

  /** What is on a page. */
  async page(query: Query, asked?: QueryOptions): Promise<readonly unknown[]> {
    return ((await this.ask(query, asked)) as { data: readonly unknown[] }).data;
  }

  /** Action and data of each event of a document, or of a set. */
  async events(target: Query): Promise<readonly (readonly [string, unknown])[]> {
    const found = await this.page({ paginate: target, events: true });
    return (found as EventAnswer[]).map(({ action, data }) => [action, data]);
  }

  /** The first error, with the status. */
  async fault(query: Query, asked?: QueryOptions): Promise<Fault & { readonly status: number }> {
    const { status, body } = await this.answer(query, asked);
    if (status < 300) throw new Error(`no error: ${body}`);
    const [first] = (JSON.parse(body) as { errors: readonly Fault[] }).errors;
    if (!first) throw new Error(`no error listed: ${body}`);
    return { status, ...first };
  }

  private random(count: number): Uint8Array {
    const digest = createHash('sha256')
      .update(String(this.seed++))
      .digest();
    return new Uint8Array(digest.subarray(0, count));
  }
}

/** Looks like one of bcrypt. */
export function fakeHash(password: string, cost: number): string {
  const digest = createHash('sha512').update(password).digest('base64').replaceAll(/[+=]/g, '.');
  return `$2b$${String(cost).padStart(2, '0')}$${digest.slice(0, 53)}`;
}

// Builders of the forms that tests write all the time.
export const obj = (fields: Record<string, unknown>): Query => ({ object: fields });
export const coll = (name: string): Query => ({ collection: name });
export const doc = (name: string, id: string | number): Query => ({
  ref: { collection: name },
  id: String(id),
});
export const create = (
  target: Query,
  data?: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Query => ({
  create: target,
  params: obj({ ...(data ? { data: obj(data) } : {}), ...more }),
});
