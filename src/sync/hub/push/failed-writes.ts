/** Counts how often the execution of a write has failed at the hub. In memory: after a restart, the counts begin at 0. */
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

  /** Whether the write is refused if it fails once more. */
  isLastTry(write: FailedWrite): boolean {
    return (this.counts.get(nameOf(write)) ?? 0) >= SYNC_LIMITS.writeTroubles - 1;
  }
}

const nameOf = ({ device, item }: FailedWrite): string => `${device} ${item.hash}`;
