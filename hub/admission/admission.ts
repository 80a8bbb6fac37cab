/** Who may ask now: by address, by credential, by what the process can hold. Names of credentials are hashes: no secret stays in memory for it. */
import { hash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { secretOf } from '../../src/http/authorization.ts';
import type { HubLimits } from '../settings/settings.ts';
import { Counts, TokenBuckets } from './token-buckets.ts';

export interface Refused {
  readonly code: 'too many requests' | 'storage_blocked';
  readonly description: string;
  readonly retryAfterSeconds: number;
}

const HEAP_LOOK_MS = 100;

/** What has a rate of its own beside that of all. */
interface Rated {
  readonly ratePerCredential?: number;
}

export class Admission {
  private readonly limits: HubLimits;
  private readonly byAddress: TokenBuckets;
  private readonly byToken: TokenBuckets;
  private readonly byRoute = new Map<Rated, TokenBuckets>();
  private readonly underWay = new Counts();
  private readonly streams = new Counts();
  private readonly now: () => number;
  private heapLookedAt = 0;
  private isHeapFull = false;

  constructor(limits: HubLimits, now: () => number = () => performance.now()) {
    this.limits = limits;
    this.now = now;
    this.byAddress = new TokenBuckets(limits.ratePerAddress, limits.burstSeconds, now);
    this.byToken = new TokenBuckets(limits.ratePerToken, limits.burstSeconds, now);
  }

  get counts(): { readonly requests: number; readonly streams: number } {
    return { requests: this.underWay.total, streams: this.streams.total };
  }

  /** Before anything of a request is read. */
  refusalOf(address: string, credential: Credential, route?: Rated): Refused | undefined {
    if (this.lacksMemory()) {
      return {
        code: 'storage_blocked',
        description: 'The hub has too little memory left for another request.',
        retryAfterSeconds: 1,
      };
    }
    const wait =
      this.byAddress.take(address) ??
      (credential.isToken ? this.byToken.take(credential.name) : undefined);
    if (wait !== undefined) return tooMany('Too many requests.', wait);
    if (this.underWay.of(credential.name) >= this.limits.concurrencyPerCredential) {
      const { concurrencyPerCredential: max } = this.limits;
      return tooMany(`More than ${max} requests of one credential at once.`, 1);
    }
    const waitForRoute = route && this.takeOfRoute(route, credential);
    return waitForRoute === undefined ? undefined : tooMany('Too many requests.', waitForRoute);
  }

  /** Returns the way to say that it is answered. */
  begin({ name }: Credential): () => void {
    return counted(this.underWay, name);
  }

  /** Undefined: there are too many. */
  beginStream({ name }: Credential): (() => void) | undefined {
    const { streams, streamsPerCredential } = this.limits;
    const isFull = this.streams.total >= streams || this.streams.of(name) >= streamsPerCredential;
    return isFull ? undefined : counted(this.streams, name);
  }

  /** Seconds to wait; undefined: none. */
  private takeOfRoute(route: Rated, { name }: Credential): number | undefined {
    const { burstSeconds, ratePerToken } = this.limits;
    // Who turned the rates off meant all of them.
    if (route.ratePerCredential === undefined || ratePerToken === 0) return undefined;
    let buckets = this.byRoute.get(route);
    if (!buckets) {
      buckets = new TokenBuckets(route.ratePerCredential, burstSeconds, this.now);
      this.byRoute.set(route, buckets);
    }
    return buckets.take(name);
  }

  private lacksMemory(): boolean {
    const now = this.now();
    if (now - this.heapLookedAt > HEAP_LOOK_MS) {
      this.heapLookedAt = now;
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      this.isHeapFull = used > limit * this.limits.heapInUse;
    }
    return this.isHeapFull;
  }
}

const counted = (counts: Counts, name: string): (() => void) => {
  let isOver = false;
  counts.add(name);
  return () => {
    if (isOver) return;
    isOver = true;
    counts.remove(name);
  };
};

export const tooMany = (description: string, waitSeconds: number): Refused => ({
  code: 'too many requests',
  description,
  retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)),
});

export interface Credential {
  /** Whoever sends the same secret, whatever scope follows it; without one, the address. */
  readonly name: string;
  /** Tokens are in many hands, and each is one user's; keys are the operator's, or everybody's. */
  readonly isToken: boolean;
}

export function credentialOf(header: string | undefined, address: string): Credential {
  const secret = secretOf(header)?.split(':')[0];
  if (secret === undefined) return { name: `address ${address}`, isToken: false };
  return {
    name: hash('sha256', secret, 'base64'),
    isToken: /^fn[EF]/.test(secret),
  };
}
