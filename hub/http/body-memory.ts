/** Memory for the bodies of all requests, shared fairly: one address cannot take what the others need. */
import { Refusal } from '../../src/errors.ts';

/** The memory that one body holds. */
export interface BodyShare {
  /** @throws Refusal when there is none left, for all or for its address */
  reserve(bytes: number): void;
  /** Gives back all that was reserved. */
  release(): void;
}

export class BodyMemory {
  private readonly max: number;
  private readonly maxPerAddress: number;
  private readonly byAddress = new Map<string, number>();
  /** Bytes of all bodies. */
  used = 0;

  constructor(max: number, maxPerAddress: number) {
    this.max = max;
    this.maxPerAddress = maxPerAddress;
  }

  shareOf(address: string): BodyShare {
    let held = 0;
    return {
      reserve: (bytes) => {
        this.add(address, bytes);
        held += bytes;
      },
      release: () => {
        this.remove(address, held);
        held = 0;
      },
    };
  }

  private add(address: string, bytes: number): void {
    const ofAddress = this.byAddress.get(address) ?? 0;
    if (ofAddress + bytes > this.maxPerAddress)
      throw new Refusal(
        'too many requests',
        'Too many request bodies from one address: try again.',
      );
    if (this.used + bytes > this.max)
      throw new Refusal('storage_blocked', 'The hub holds too many request bodies: try again.');
    this.used += bytes;
    this.byAddress.set(address, ofAddress + bytes);
  }

  private remove(address: string, bytes: number): void {
    this.used -= bytes;
    const left = (this.byAddress.get(address) ?? 0) - bytes;
    if (left > 0) this.byAddress.set(address, left);
    else this.byAddress.delete(address);
  }
}
