/** Addresses whose connections were closed for what they cost: again and again, and new ones are refused for a while. */
import { TokenBuckets } from '../admission/token-buckets.ts';
import type { Peer } from '../admission/addresses.ts';

/** Of one address: so many at once, and per second. */
const AT_ONCE = 8;
const PER_SECOND = 1;

export class Misuse {
  private readonly left = new TokenBuckets(PER_SECOND, AT_ONCE / PER_SECOND, () =>
    performance.now(),
  );

  count({ address }: Peer): void {
    this.left.take(address);
  }

  /** A proxy speaks for many, so its connections are never refused. */
  isBarred({ address, isTrusted }: Peer): boolean {
    return !isTrusted && !this.left.hasLeft(address);
  }
}
