/**
 * Keys that identity providers publish (JWKS), cached in rows of `meta` that no query can read. As long as its keys are cached, a token is
 * accepted offline and after a reload.
 */
import { tryParseJson } from '../../codec/json.ts';
import { metaKey } from '../../codec/key.ts';
import { metaRange } from '../../codec/ranges.ts';
import type { Row, RowAddress, WriteTx } from '../../store/port.ts';
import { scan } from '../../store/scan.ts';
import { remember } from '../../values/remember.ts';
import type { Micros } from '../../values/value.ts';
import type { AccessTokenPort, EngineOptions } from '../context/host.ts';

interface KeySet {
  /** JSON text as received. */
  readonly text: string;
  readonly fetched: Micros;
}

interface Options extends Pick<EngineOptions, 'store' | 'clock'> {
  readonly accessTokens: AccessTokenPort;
}

const MINUTE: Micros = 60 * 1_000_000;
/** Keys that are older are fetched again. */
const FRESH: Micros = 60 * MINUTE;
/** When keys cannot be fetched, cached keys up to this age are used. */
const KEPT: Micros = 30 * 24 * 60 * MINUTE;
/**
 * Shortest time between two fetches from one address, failed ones included: tokens with invented key ids must not cause repeated fetches.
 */
const BETWEEN_FETCHES: Micros = MINUTE / 2;
const TEXT_MAX = 256 * 1024;
/**
 * Most addresses whose keys are kept in memory. Without a limit, someone who may change a provider could name one address after the other.
 */
const ADDRESSES_MAX = 64;

export class PublishedKeys {
  private readonly options: Options;
  private readonly known = new Map<string, KeySet>();
  private readonly fetching = new Map<string, Promise<KeySet | undefined>>();
  private readonly requestedAt = new Map<string, Micros>();

  constructor(options: Options) {
    this.options = options;
  }

  /** Whether the token is signed with a key published at `uri`. Also false when no keys are available. */
  async haveSigned(token: string, uri: string): Promise<boolean> {
    const { accessTokens } = this.options;
    const keys = await this.keysAt(uri);
    const result = keys && (await accessTokens.isSigned(token, keys.text));
    if (result !== 'unknown key') return result ?? false;
    // The provider may have started to sign with a new key.
    const renewed = await this.fetchOnce(uri);
    return renewed ? (await accessTokens.isSigned(token, renewed.text)) === true : false;
  }

  private async keysAt(uri: string): Promise<KeySet | undefined> {
    const keys = this.known.get(uri) ?? (await this.stored(uri));
    if (keys) remember(this.known, uri, keys, ADDRESSES_MAX);
    const now = this.options.clock();
    if (keys && isWithin(FRESH, keys.fetched, now)) return keys;
    return (await this.fetchOnce(uri)) ?? (keys && now - keys.fetched < KEPT ? keys : undefined);
  }

  private async stored(uri: string): Promise<KeySet | undefined> {
    const { rows } = await this.options.store.read((tx) => tx.fetch([addressOf(uri)], []), META);
    return keysIn(rows[0]);
  }

  /** Returns undefined when the keys are unavailable now. Concurrent requests share one fetch. */
  private fetchOnce(uri: string): Promise<KeySet | undefined> {
    const running = this.fetching.get(uri);
    if (running) return running;
    const now = this.options.clock();
    if (isWithin(BETWEEN_FETCHES, this.requestedAt.get(uri), now))
      return Promise.resolve(undefined);
    remember(this.requestedAt, uri, now, ADDRESSES_MAX);
    const fetched = this.fetch(uri, now).finally(() => this.fetching.delete(uri));
    this.fetching.set(uri, fetched);
    return fetched;
  }

  private async fetch(uri: string, now: Micros): Promise<KeySet | undefined> {
    const { accessTokens, store } = this.options;
    const text = await accessTokens.fetchKeys(uri).catch(() => undefined);
    if (text === undefined || !isKeySet(text)) return undefined;
    const keys = { text, fetched: now };
    remember(this.known, uri, keys, ADDRESSES_MAX);
    const row = { key: addressOf(uri).key, entries: [], value: JSON.stringify(keys) };
    const write = async (tx: WriteTx): Promise<void> => {
      const { ranges } = await tx.fetch([], [STORED], SWEPT_BYTES);
      const old = (ranges[0] ?? []).filter(
        (entry) => entry.key !== row.key && now - (keysIn(entry.row)?.fetched ?? now) >= KEPT,
      );
      const deletes = old.map(({ key }) => ({ space: 'meta', key }) as const);
      tx.apply({ puts: [{ space: 'meta', row }], deletes });
    };
    // A failed write is ignored: the keys are in memory, and a full disk must not make a token invalid.
    await store.write(write, { ...META, durability: 'relaxed' }).catch(() => undefined);
    return keys;
  }
}

/** Whether `at` is less than `time` ago. If it is in the future, the clock was set back, and how long ago it was is unknown. */
export const isWithin = (time: Micros, at: Micros | undefined, now: Micros): boolean =>
  at !== undefined && now >= at && now - at < time;

/** Only this file writes these rows, so their contents are not checked. */
const keysIn = (row: Row | undefined): KeySet | undefined =>
  typeof row?.value === 'string' ? (JSON.parse(row.value) as KeySet) : undefined;

const META = { spaces: ['meta'] } as const;
const addressOf = (uri: string): RowAddress => ({ space: 'meta', key: metaKey(`jwks/${uri}`) });
/** All stored key sets. After a fetch they are read, up to `SWEPT_BYTES`, and those older than `KEPT` are removed. */
const STORED = scan('meta', metaRange('jwks'));
const SWEPT_BYTES = 1024 * 1024;

/** Whether a response is a key set. Anything else must not replace the cached keys. */
function isKeySet(text: string): boolean {
  if (text.length > TEXT_MAX) return false;
  const json = tryParseJson(text);
  return json instanceof Map && Array.isArray(json.get('keys'));
}
