/** A complete engine for tests, with an in-memory store, a clock under control of the test, and password hashing that takes no time. */
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

/** A document in an answer. Some of these members may be missing. */
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
  /** How often a password was compared with a hash, or with the dummy hash for missing users. */
  verifications = 0;
  /** Starts at 2026-01-01. Each query advances it by a second. */
  now: Micros = 1_767_225_600_000_000;
  readonly store: Store;
  readonly engine: Engine;
  private seed = 0;

  /**
   * @param store may be shared with another engine
   * @param options options that differ from the defaults
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

  /** Returns the resource of the answer. Throws if the answer is an error. */
  async ask(query: Query, asked?: QueryOptions): Promise<unknown> {
    const { status, body } = await this.answer(query, asked);
    if (status >= 300) throw new Error(`${status} ${body}`);
    return (JSON.parse(body) as { resource: unknown }).resource;
  }

  /** Like `ask`, for a resource that is a document. */
  document(query: Query, asked?: QueryOptions): Promise<Resource> {
    return this.ask(query, asked) as Promise<Resource>;
  }

  /** The data of a page. */
  async page(query: Query, asked?: QueryOptions): Promise<readonly unknown[]> {
    return ((await this.ask(query, asked)) as { data: readonly unknown[] }).data;
  }

  /** The action and data of each event of a document or set. */
  async events(target: Query): Promise<readonly (readonly [string, unknown])[]> {
    const found = await this.page({ paginate: target, events: true });
    return (found as EventAnswer[]).map(({ action, data }) => [action, data]);
  }

  /** The first error of the answer, with the status. */
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

/** A text in the form of a bcrypt hash. */
export function fakeHash(password: string, cost: number): string {
  const digest = createHash('sha512').update(password).digest('base64').replaceAll(/[+=]/g, '.');
  return `$2b$${String(cost).padStart(2, '0')}$${digest.slice(0, 53)}`;
}

// Builders of forms that many tests use.
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
