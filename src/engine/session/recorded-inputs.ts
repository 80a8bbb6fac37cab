/** Recorded inputs of one query: every execution gets the same ids and random bytes, in the order in which it asks for them. */
import type { EngineOptions } from '../context/host.ts';
import type { Inputs } from '../context/context.ts';
import type { HostAnswers } from '../transactions/host-answers.ts';
import type { Micros } from '../../values/value.ts';

/** 2020-01-01, ms: ids count time from here. */
const ID_EPOCH_MS = 1_577_836_800_000;
const ID_RANDOM_BITS = 22n;

/** @param bytes at least three; only 22 bits are used */
export function idFrom(now: Micros, bytes: Uint8Array): bigint {
  const ms = BigInt(Math.max(0, Math.floor(now / 1000) - ID_EPOCH_MS));
  let low = 0n;
  for (const byte of bytes) low = (low << 8n) | BigInt(byte);
  return (ms << ID_RANDOM_BITS) | (low & ((1n << ID_RANDOM_BITS) - 1n));
}

/**
 * Creates a generator of ids that grow with time: 41 bits of milliseconds, then 22 random bits. If an id would not be greater than the
 * last, it is the last plus one.
 */
export function createIds(
  clock: () => number,
  random: (bytes: number) => Uint8Array,
): () => bigint {
  let last = 0n;
  return () => {
    const made = idFrom(clock(), random(3));
    last = made > last ? made : last + 1n;
    return last;
  };
}

interface Origin {
  /** Network address that the query came from. */
  readonly address?: string | undefined;
  /** The first ids of the query, which were generated elsewhere. */
  readonly ids?: readonly bigint[];
  /** Generates ids that must be made here. Default: they are made like all others. */
  readonly makeOwnId?: () => bigint;
}

export class RecordedInputs {
  private readonly makeId: (index: number) => bigint;
  private readonly makeOwnId: (() => bigint) | undefined;
  private readonly options: Pick<EngineOptions, 'random' | 'sha256' | 'accessTokens'>;
  private readonly address: string | undefined;
  private readonly ids: bigint[];
  private readonly ownIds: bigint[] = [];
  private bytes: Uint8Array[] = [];
  private readonly lookedUp: Inputs['lookedUp'] = {};

  /** @param makeId called with the number of ids generated before */
  constructor(
    makeId: (index: number) => bigint,
    options: Pick<EngineOptions, 'random' | 'sha256' | 'accessTokens'>,
    { address, ids = [], makeOwnId }: Origin = {},
  ) {
    this.makeId = makeId;
    this.makeOwnId = makeOwnId;
    this.address = address;
    this.ids = [...ids];
    this.options = options;
  }

  /** Ids generated so far. Another host that executes the query again starts with them. */
  get madeIds(): readonly bigint[] {
    return this.ids;
  }

  /** The inputs of one execution, starting with the first. */
  begin(answers: HostAnswers): Inputs {
    let idAt = 0;
    let ownIdAt = 0;
    let bytesAt = 0;
    const newId = (): bigint => {
      const index = idAt++;
      return (this.ids[index] ??= this.makeId(index));
    };
    const { makeOwnId } = this;
    return {
      newId,
      newOwnId: makeOwnId ? () => (this.ownIds[ownIdAt++] ??= makeOwnId()) : newId,
      randomBytes: (count) => (this.bytes[bytesAt++] ??= this.options.random(count)),
      lookedUp: this.lookedUp,
      sha256: this.options.sha256,
      rootAudience: this.options.accessTokens?.rootAudience,
      mayFetch: this.options.accessTokens?.mayFetch,
      hash: (password) => answers.hash(password),
      verify: (password, hash, { target, account }) =>
        answers.verify(password, hash, { target, account, address: this.address }),
    };
  }
}
