/**
 * Counts which callers were refused or delayed most by limits. Memory stays bounded for any number of callers: the Space-Saving
 * algorithm of Metwally, Agrawal and El Abbadi (2005).
 */

/** A limit of the hub: see `HubSettings`, and `FairQueue` for turns. */
export type Limit =
  | 'address rate'
  | 'token rate'
  | 'concurrency'
  | 'streams'
  | 'answers'
  | 'memory'
  /** The request was not refused, but waited for its turn to be evaluated. */
  | 'turn';

export interface HeldBackCount {
  readonly limit: Limit;
  /** An address, `token 123`, `key 123`, or `database a/b`. */
  readonly who: string;
  /** Number of requests and streams. Too high by at most the count of the name that this one replaced. */
  readonly count: number;
}

const NAMES_MAX = 64;

export class HeldBack {
  private readonly counts = new Map<string, HeldBackCount>();

  note(limit: Limit, who: string): void {
    const name = `${limit} ${who}`;
    const known = this.counts.get(name);
    const least = known || this.counts.size < NAMES_MAX ? undefined : this.least();
    if (least) this.counts.delete(`${least.limit} ${least.who}`);
    this.counts.set(name, { limit, who, count: ((known ?? least)?.count ?? 0) + 1 });
  }

  /** The callers with the highest counts, highest first. */
  most(count: number): readonly HeldBackCount[] {
    return [...this.counts.values()].toSorted((a, b) => b.count - a.count).slice(0, count);
  }

  private least(): HeldBackCount | undefined {
    let found: HeldBackCount | undefined;
    for (const each of this.counts.values()) if (!found || each.count < found.count) found = each;
    return found;
  }
}
