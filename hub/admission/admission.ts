/** Admission control by address, credential and memory. Credentials are kept as hashes, so that no secret stays in memory. */
import { hash } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { secretOf } from '../../src/http/authorization.ts';
import { HeldBack, type Limit } from '../monitoring/held-back.ts';
import type { HubSettings } from '../settings/settings.ts';
import { looksLikeToken, parseSecret } from '../../src/engine/access.ts';
import { AnswerMemory } from './answer-memory.ts';
import { ConcurrencyLimits } from './concurrency-limits.ts';
import { Counts, TokenBuckets } from './token-buckets.ts';

export interface AdmissionRefusal {
  readonly code: 'too many requests' | 'storage_blocked';
  readonly message: string;
  readonly retryAfterSeconds: number;
}

export interface Credential {
  /**
   * For a token: its hash, the same for all scopes. For a key, which many may use: its hash with the address. Without a secret:
   * the address.
   */
  readonly name: string;
  /** A token belongs to one user, so it is rate-limited. A key belongs to the operator or is public. */
  readonly isToken: boolean;
  /** A name for the operator: `token 123`, `key 123`, or the address. A function, because few requests are held back. */
  readonly who: () => string;
}

const HEAP_CHECK_MS = 100;

export class Admission {
  private readonly settings: HubSettings;
  private readonly byAddress: TokenBuckets;
  private readonly byToken: TokenBuckets;
  private readonly promptRefusals: TokenBuckets;
  private readonly lanes: ConcurrencyLimits;
  private readonly streams = new Counts();
  readonly answers: AnswerMemory;
  readonly heldBack = new HeldBack();
  private readonly onHeldBack: (limit: Limit) => void;
  private readonly nowMs: () => number;
  private heapCheckedMs = 0;
  private isHeapFull = false;

  constructor(
    settings: HubSettings,
    onHeldBack: (limit: Limit) => void = () => undefined,
    nowMs: () => number = () => performance.now(),
  ) {
    this.settings = settings;
    this.onHeldBack = onHeldBack;
    this.nowMs = nowMs;
    const { ratePerAddress, ratePerToken, burstSeconds } = settings;
    const { answerBytesInMemory, answerBytesPerCredential } = settings;
    this.lanes = new ConcurrencyLimits(
      settings.concurrencyPerCredential,
      settings.waitingPerCredential,
    );
    this.answers = new AnswerMemory(answerBytesInMemory, answerBytesPerCredential);
    this.byAddress = new TokenBuckets(ratePerAddress, burstSeconds, nowMs);
    this.byToken = new TokenBuckets(ratePerToken, burstSeconds, nowMs);
    this.promptRefusals = new TokenBuckets(settings.promptRefusalsPerSecond, 1, nowMs);
  }

  get counts(): { readonly requests: number; readonly streams: number } {
    return { requests: this.lanes.running, streams: this.streams.total };
  }

  /** Called before the body of a request is read. Takes one token from each of the request's rate limits. */
  refusalOf(address: string, { name, isToken, who }: Credential): AdmissionRefusal | undefined {
    if (this.lacksMemory()) {
      const message = 'The hub has too little memory left for another request.';
      return this.held('memory', who(), { code: 'storage_blocked', message, retryAfterSeconds: 1 });
    }
    const ofAddress = this.byAddress.take(address);
    if (ofAddress !== undefined)
      return this.held('address rate', address, tooMany('Too many requests.', ofAddress));
    const ofToken = isToken ? this.byToken.take(name) : undefined;
    if (ofToken !== undefined)
      return this.held('token rate', who(), tooMany('Too many requests.', ofToken));
    if (this.answers.hasRoomFor(name)) return undefined;
    const unread = tooMany('Too many answers are still unread: read them, then try again.', 1);
    return this.held('answers', who(), unread);
  }

  /** Called before the main thread parses a long body, which costs as much as several requests and therefore counts as that many. */
  chargeParsed(address: string, { name, isToken }: Credential, bytes: number): void {
    const requests = bytes / this.settings.parsedBytesPerRequest;
    this.byAddress.charge(address, requests);
    if (isToken) this.byToken.charge(name, requests);
  }

  /** How long an answer of status 429 is delayed: the first ones in each second are not. */
  refusalDelayMs(address: string): number {
    return this.promptRefusals.take(address) === undefined ? 0 : this.settings.refusalDelayMs;
  }

  /**
   * Called when the body of the request has arrived completely, so that a slow sender does not delay others. Resolves when the
   * request may run, possibly after others of the credential, with a function to call when it ends; or with a refusal.
   */
  async beginRequest({ name, who }: Credential): Promise<(() => void) | AdmissionRefusal> {
    const { concurrencyPerCredential: max } = this.settings;
    const end = await this.lanes.enter(name);
    if (end) return end;
    const message = `More than ${max} concurrent requests of one credential, and too many wait.`;
    return this.held('concurrency', who(), tooMany(message, 1));
  }

  /** Counts a stream until the returned function is called. */
  beginStream({ name, who }: Credential): (() => void) | AdmissionRefusal {
    const { streams, streamsPerCredential: max } = this.settings;
    if (this.streams.total < streams && this.streams.of(name) < max) return this.streams.hold(name);
    const message = `More than ${max} streams of one credential, or ${streams} in total.`;
    return this.held('streams', who(), tooMany(message, 1));
  }

  private held(limit: Limit, who: string, refusal: AdmissionRefusal): AdmissionRefusal {
    this.heldBack.note(limit, who);
    this.onHeldBack(limit);
    return refusal;
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

const tooMany = (message: string, waitSeconds: number): AdmissionRefusal => ({
  code: 'too many requests',
  message,
  retryAfterSeconds: Math.ceil(waitSeconds),
});

export function credentialOf(header: string | undefined, address: string): Credential {
  const secret = secretOf(header)?.split(':')[0];
  if (secret === undefined)
    return { name: `address ${address}`, isToken: false, who: () => address };
  const name = hash('sha256', secret, 'base64');
  const isToken = looksLikeToken(secret);
  const who = (): string => {
    const parsed = parseSecret(secret);
    return parsed ? `${parsed.kind} ${parsed.id}` : address;
  };
  return { name: isToken ? name : `${name} ${address}`, isToken, who };
}
