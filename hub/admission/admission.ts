/** Admission control: by address, by credential, by memory. Credentials are kept as hashes, so that no secret stays in memory. */
import { hash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { secretOf } from '../../src/http/authorization.ts';
import type { HubSettings } from '../settings/settings.ts';
import { AnswerMemory } from './answer-memory.ts';
import { Lanes } from './lanes.ts';
import { Counts, TokenBuckets } from './token-buckets.ts';

export interface AdmissionRefusal {
  readonly code: 'too many requests' | 'storage_blocked';
  readonly description: string;
  readonly retryAfterSeconds: number;
}

export interface Credential {
  /** Of a token: the same whatever scope follows it. Of a key, which many may have: with the address. Of none: the address. */
  readonly name: string;
  /** A token belongs to one user and is rate-limited; a key is the operator's, or everybody's. */
  readonly isToken: boolean;
}

const HEAP_CHECK_MS = 100;

export class Admission {
  private readonly settings: HubSettings;
  private readonly byAddress: TokenBuckets;
  private readonly byToken: TokenBuckets;
  private readonly lanes: Lanes;
  private readonly streams = new Counts();
  readonly answers: AnswerMemory;
  private readonly nowMs: () => number;
  private heapCheckedMs = 0;
  private isHeapFull = false;

  constructor(settings: HubSettings, nowMs: () => number = () => performance.now()) {
    this.settings = settings;
    this.nowMs = nowMs;
    const { ratePerAddress, ratePerToken, burstSeconds } = settings;
    const { answerBytesInMemory, answerBytesPerCredential } = settings;
    this.lanes = new Lanes(settings.concurrencyPerCredential, settings.waitingPerCredential);
    this.answers = new AnswerMemory(answerBytesInMemory, answerBytesPerCredential);
    this.byAddress = new TokenBuckets(ratePerAddress, burstSeconds, nowMs);
    this.byToken = new TokenBuckets(ratePerToken, burstSeconds, nowMs);
  }

  get counts(): { readonly requests: number; readonly streams: number } {
    return { requests: this.lanes.running, streams: this.streams.total };
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
    return this.answers.hasRoomFor(name)
      ? undefined
      : tooMany('Too many answers are not read yet: read them, then try again.', 1);
  }

  /** Once it is wholly here: what is slow to arrive holds up nobody. Resolves, maybe after others, with what is to be called at its end. */
  async beginRequest({ name }: Credential): Promise<(() => void) | AdmissionRefusal> {
    const { concurrencyPerCredential: max } = this.settings;
    return (
      (await this.lanes.enter(name)) ??
      tooMany(`More than ${max} concurrent requests of one credential, and too many wait.`, 1)
    );
  }

  /** Counts a stream until `end` is called. */
  beginStream({ name }: Credential): { readonly end: () => void } | AdmissionRefusal {
    const { streams, streamsPerCredential: max } = this.settings;
    return this.streams.total >= streams || this.streams.of(name) >= max
      ? tooMany(`More than ${max} streams of one credential, or ${streams} in total.`, 1)
      : { end: this.streams.hold(name) };
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

const tooMany = (description: string, waitSeconds: number): AdmissionRefusal => ({
  code: 'too many requests',
  description,
  retryAfterSeconds: Math.max(1, Math.ceil(waitSeconds)),
});

export function credentialOf(header: string | undefined, address: string): Credential {
  const secret = secretOf(header)?.split(':')[0];
  if (secret === undefined) return { name: `address ${address}`, isToken: false };
  const name = hash('sha256', secret, 'base64');
  const isToken = /^fn[EF]/.test(secret);
  return { name: isToken ? name : `${name} ${address}`, isToken };
}
