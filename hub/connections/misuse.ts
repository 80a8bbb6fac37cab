/** Addresses whose connections were repeatedly closed because of what they cost: new connections from them wait for a while. */
import { TokenBuckets } from '../admission/token-buckets.ts';
import type { Peer } from '../admission/addresses.ts';

/** Tolerated closed connections of one address: at once, and per second. */
const AT_ONCE = 4;
const PER_SECOND = 1;

export class Misuse {
  private readonly left = new TokenBuckets(PER_SECOND, AT_ONCE / PER_SECOND, () =>
    performance.now(),
  );

  count({ address }: Peer): void {
    this.left.take(address);
  }

  /** Connections of a trusted proxy never wait, because it forwards requests of many callers. */
  isBarred({ address, isTrusted }: Peer): boolean {
    return !isTrusted && !this.left.hasLeft(address);
  }
}
