/** Admission control: by address, by credential, by memory. Credentials are kept as hashes, so that no secret stays in memory. */
import { hash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { secretOf } from '../../src/http/authorization.ts';
import type { HubSettings } from '../settings/settings.ts';
import { Counts, TokenBuckets } from './token-buckets.ts';

export interface AdmissionRefusal {
  readonly code: 'too many requests' | 'storage_blocked';
  readonly description: string;
  readonly retryAfterSeconds: number;
}

export interface Credential {
  /** The same for one secret, whatever scope follows it; without a secret, the address. */
  readonly name: string;
  /** A token belongs to one user and is rate-limited; a key is the operator's, or everybody's. */
  readonly isToken: boolean;
}

const HEAP_CHECK_MS = 100;

export class Admission {
  private readonly settings: HubSettings;
  private readonly byAddress: TokenBuckets;
  private readonly byToken: TokenBuckets;
  private readonly requests = new Counts();
  private readonly streams = new Counts();
  private readonly nowMs: () => number;
  private heapCheckedMs = 0;
  private isHeapFull = false;

  constructor(settings: HubSettings, nowMs: () => number = () => performance.now()) {
    this.settings = settings;
    this.nowMs = nowMs;
    const { ratePerAddress, ratePerToken, burstSeconds } = settings;
    this.byAddress = new TokenBuckets(ratePerAddress, burstSeconds, nowMs);
    this.byToken = new TokenBuckets(ratePerToken, burstSeconds, nowMs);
  }

  get counts(): { readonly requests: number; readonly streams: number } {
    return { requests: this.requests.total, streams: this.streams.total };
  }

  /** Before anything of a request is read. Takes one from its rates. */
  refusalOf(address: string, { name, isToken }: Credential): AdmissionRefusal | undefined {
    if (this.lacksMemory())
      return {
        code: 'storage_blocked',
        description: 'The hub has too little memory left for another request.',
        retryAfterSeconds: 1,
      };
    const waitSeconds =
      this.byAddress.take(address) ?? (isToken ? this.byToken.take(name) : undefined);
    if (waitSeconds !== undefined) return tooMany('Too many requests.', waitSeconds);
    const { concurrencyPerCredential: max } = this.settings;
    return this.requests.of(name) < max
      ? undefined
      : tooMany(`More than ${max} concurrent requests of one credential.`, 1);
  }

  /** Counts a request until the returned function is called. */
  beginRequest({ name }: Credential): () => void {
    return counted(this.requests, name);
  }

  /** Counts a stream until `end` is called. */
  beginStream({ name }: Credential): { readonly end: () => void } | AdmissionRefusal {
    const { streams, streamsPerCredential: max } = this.settings;
    return this.streams.total >= streams || this.streams.of(name) >= max
      ? tooMany(`More than ${max} streams of one credential, or ${streams} in total.`, 1)
      : { end: counted(this.streams, name) };
  }

  private lacksMemory(): boolean {
    const nowMs = this.nowMs();
    if (nowMs - this.heapCheckedMs > HEAP_CHECK_MS) {
      this.heapCheckedMs = nowMs;
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      this.isHeapFull = used > limit * this.settings.heapInUse;
    }
    return this.isHeapFull;
  }
}

function counted(counts: Counts, name: string): () => void {
  let isOver = false;
  counts.add(name);
  return () => {
    if (isOver) return;
    isOver = true;
    counts.remove(name);
  };
}

const tooMany = (description: string, waitSeconds: number): AdmissionRefusal => ({
  code: 'too many requests',
  description,
  retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)),
});

export function credentialOf(header: string | undefined, address: string): Credential {
  const secret = secretOf(header)?.split(':')[0];
  if (secret === undefined) return { name: `address ${address}`, isToken: false };
  return { name: hash('sha256', secret, 'base64'), isToken: /^fn[EF]/.test(secret) };
}
