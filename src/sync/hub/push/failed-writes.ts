/** Writes whose execution failed at the hub, and how often. In memory: after a restart they get new tries. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { PushItem } from '../../protocol/writes.ts';

interface FailedWrite {
  readonly item: Pick<PushItem, 'hash'>;
  readonly device: DeviceId;
}

const REMEMBERED_MAX = 10_000;

export class FailedWrites {
  private readonly counts = new Map<string, number>();

  note(write: FailedWrite): void {
    const name = nameOf(write);
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.delete(name);
    this.counts.set(name, count);
    for (const oldest of this.counts.keys()) {
      if (this.counts.size <= REMEMBERED_MAX) break;
      this.counts.delete(oldest);
    }
  }

  /** If it fails once more, it is refused. */
  isLastTry(write: FailedWrite): boolean {
    return (this.counts.get(nameOf(write)) ?? 0) >= SYNC_LIMITS.writeTroubles - 1;
  }
}

const nameOf = ({ device, item }: FailedWrite): string => `${device} ${item.hash}`;
