/** Writes whose execution failed at the hub, and how often. In memory: after a restart they get new tries. */
import { SYNC_LIMITS } from '../../../limits.ts';
import { remember } from '../../../values/remember.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { PushItem } from '../../protocol/writes.ts';

interface FailedWrite {
  readonly item: Pick<PushItem, 'hash'>;
  readonly device: DeviceId;
}

const REMEMBERED_MAX = 10_000;

export class FailedWrites {
  private readonly counts = new Map<string, number>();

  add(write: FailedWrite): void {
    const name = nameOf(write);
    remember(this.counts, name, (this.counts.get(name) ?? 0) + 1, REMEMBERED_MAX);
  }

  /** If it fails once more, it is refused. */
  isLastTry(write: FailedWrite): boolean {
    return (this.counts.get(nameOf(write)) ?? 0) >= SYNC_LIMITS.writeTroubles - 1;
  }
}

const nameOf = ({ device, item }: FailedWrite): string => `${device} ${item.hash}`;
