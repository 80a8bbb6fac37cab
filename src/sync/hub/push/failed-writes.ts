/** Writes that failed for no reason of their own, and how often. Forgotten with the process: they are tried some times more then. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { PushItem } from '../../protocol/writes.ts';

interface Tried {
  readonly item: Pick<PushItem, 'hash'>;
  readonly device: DeviceId;
}

const REMEMBERED_MAX = 10_000;

export class Troubles {
  private readonly counts = new Map<string, number>();

  note(tried: Tried): void {
    const name = nameOf(tried);
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.delete(name);
    this.counts.set(name, count);
    for (const oldest of this.counts.keys()) {
      if (this.counts.size <= REMEMBERED_MAX) break;
      this.counts.delete(oldest);
    }
  }

  /** One try more, and it is the last. */
  isHopeless(tried: Tried): boolean {
    return (this.counts.get(nameOf(tried)) ?? 0) >= SYNC_LIMITS.writeTroubles - 1;
  }
}

const nameOf = ({ device, item }: Tried): string => `${device} ${item.hash}`;
