/** Limits the memory for the bodies of all requests. A limit per address leaves room for the others. */
import { Refusal } from '../../src/errors.ts';
import { Counts } from '../admission/token-buckets.ts';

/** The memory reserved for one body. */
export interface BodyShare {
  /** @throws Refusal when the limit for all bodies or for the address is exceeded */
  reserve(bytes: number): void;
  /** Releases everything that was reserved. */
  release(): void;
}

export class BodyMemory {
  private readonly max: number;
  private readonly maxPerAddress: number;
  private readonly bytes = new Counts();

  constructor(max: number, maxPerAddress: number) {
    this.max = max;
    this.maxPerAddress = maxPerAddress;
  }

  /** Bytes reserved for all bodies. */
  get used(): number {
    return this.bytes.total;
  }

  shareOf(address: string): BodyShare {
    let held = 0;
    return {
      reserve: (bytes) => {
        this.add(address, bytes);
        held += bytes;
      },
      release: () => {
        this.bytes.remove(address, held);
        held = 0;
      },
    };
  }

  private add(address: string, bytes: number): void {
    if (this.bytes.of(address) + bytes > this.maxPerAddress)
      throw new Refusal(
        'too many requests',
        'Too many request bodies from one address: try again.',
      );
    if (this.used + bytes > this.max)
      throw new Refusal('storage_blocked', 'The hub holds too many request bodies: try again.');
    this.bytes.add(address, bytes);
  }
}
