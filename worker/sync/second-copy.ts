/** The second copy of unsent writes, as a session uses it: what earlier tabs left is recovered, and the writes of this tab are kept. */
import { hexOfBytes } from '../../src/codec/hex.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import type { DeviceId } from '../../src/sync/protocol/identifiers.ts';
import { random } from '../browser/random.ts';
import { forgetKept, OutboxFile, readKept, type KeptWrite } from './outbox-file.ts';

export interface SecondCopyOptions {
  readonly name: string;
  readonly replica: Replica;
  readonly report: (reason: unknown) => void;
  readonly durability: 'strict' | 'relaxed';
}

export class SecondCopy {
  private readonly options: SecondCopyOptions;
  private file: Promise<OutboxFile | undefined> | undefined = undefined;
  private device: DeviceId | undefined = undefined;

  constructor(options: SecondCopyOptions) {
    this.options = options;
  }

  /** Restores the unsent writes of a copy that was lost. Returns how many could not be restored. */
  async recover({ device }: ReplicaState): Promise<number> {
    if (this.file) return 0;
    const { name, replica, report } = this.options;
    const kept = (await readKept(name)).filter((write) => write.device === device);
    const missing = await replica.recover(device, kept);
    this.device = device;
    this.file = this.open(device, kept).catch((reason: unknown) => {
      report(reason);
      return undefined;
    });
    return missing;
  }

  /** @param kept what files of closed tabs hold: they go when it is in the file of this tab. Files of open tabs stay. */
  private async open(
    device: DeviceId,
    kept: readonly KeptWrite[],
  ): Promise<OutboxFile | undefined> {
    const { name } = this.options;
    const file = await OutboxFile.open(name, hexOfBytes(random(8)));
    if (!file) return undefined;
    for (const write of kept) file.keep(write);
    await file.flushed();
    await forgetKept(name, device);
    return file;
  }

  /** A write of this tab was stored. */
  async keep(write: KeptWrite): Promise<void> {
    try {
      const file = await this.file;
      file?.keep(write);
      if (this.options.durability === 'strict') await file?.flushed();
    } catch (reason) {
      // The write itself is stored: only its second copy is missing.
      this.options.report(reason);
    }
  }

  /** Writes have their verdicts, or other numbers: a copy that is not needed any more goes. */
  async reconcile(): Promise<void> {
    const file = await this.file;
    if (!file) return;
    const { kept } = file;
    const { name, replica } = this.options;
    const state = await replica.state();
    if (!state) return;
    const { device, era } = state;
    const before = this.device;
    if (before !== undefined && device !== before) {
      const waiting = (await replica.writes(['local', 'parked'])).filter(
        (record) => record.era === era,
      );
      // Another call was first, or a write was kept meanwhile.
      if (this.device !== before || file.kept !== kept) return this.reconcile();
      const moved = waiting.map(({ item, note }) => ({ device, item, note }));
      file.move(before, device, moved);
      this.device = device;
      await forgetKept(name, before);
    }
    file.settle(state, kept);
  }

  async close(): Promise<void> {
    (await this.file)?.close();
    this.file = undefined;
  }
}
