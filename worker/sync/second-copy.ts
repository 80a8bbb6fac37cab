/** The second copy of unsent writes, as a session uses it: recovers what earlier tabs have left, and keeps the writes of this tab. */
import { hexOfBytes } from '../../src/codec/hex.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { KeptWrite } from '../../src/sync/device/state/outbox-record.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import type { DeviceId } from '../../src/sync/protocol/identifiers.ts';
import { random } from '../browser/random.ts';
import { isSameIdentity } from '../../src/sync/device/view/impersonation.ts';
import type { Owner } from '../../src/sync/protocol/messages.ts';
import { forgetKept, OutboxFile, readKept } from './outbox-file.ts';

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
  private owner: Owner | undefined = undefined;

  constructor(options: SecondCopyOptions) {
    this.options = options;
  }

  /** Restores the unsent writes of a copy that was lost. Returns how many could not be restored. */
  async recover({ device, actor }: ReplicaState): Promise<number> {
    if (this.file) return 0;
    const { name, replica, report } = this.options;
    // Also writes under other ids that the user's copy has had: before the database was lost, or before its writes were renumbered.
    const isOwn = ({ owner }: KeptWrite): boolean =>
      owner !== undefined && isSameIdentity(owner, actor);
    const kept = (await readKept(name)).filter(isOwn);
    const missing = await replica.recover(
      device,
      kept.filter((write) => write.device === device),
    );
    const others = kept.filter((write) => write.device !== device);
    if (others.length > 0) await replica.recover(undefined, others);
    this.device = device;
    this.owner = ownerOf(actor);
    this.file = this.open(isOwn).catch((reason: unknown) => {
      report(reason);
      return undefined;
    });
    return missing;
  }

  /**
   * Opens a file and writes all unsent writes to it, because some may be in no file. Then deletes the files of closed tabs whose writes
   * are stored; those of open tabs stay.
   */
  private async open(isOwn: (write: KeptWrite) => boolean): Promise<OutboxFile | undefined> {
    const { name, replica } = this.options;
    const file = await OutboxFile.open(name, hexOfBytes(random(8)));
    if (!file) return undefined;
    for (const write of await replica.unsent()) file.keep(this.owned(write));
    await file.flushed();
    await forgetKept(name, isOwn);
    return file;
  }

  /** Called when a write of this tab was stored. */
  async keep(write: KeptWrite): Promise<void> {
    try {
      const file = await this.file;
      file?.keep(this.owned(write));
      if (this.options.durability === 'strict') await file?.flushed();
    } catch (reason) {
      // The write itself is stored; only its second copy is missing.
      this.options.report(reason);
    }
  }

  /** Called when writes may have received verdicts or new numbers: removes copies that are not needed any more. */
  async reconcile(): Promise<void> {
    const file = await this.file;
    if (!file) return;
    const { kept } = file;
    const { name, replica } = this.options;
    const state = await replica.state();
    if (!state) return;
    const { device } = state;
    const before = this.device;
    if (before !== undefined && device !== before) {
      const unsent = await replica.unsent();
      // Another call has already moved the writes, or a write was kept in the meantime.
      if (this.device !== before || file.kept !== kept) return this.reconcile();
      file.move(
        before,
        device,
        unsent.map((write) => this.owned(write)),
      );
      this.device = device;
      await forgetKept(name, (write) => write.device === before);
    }
    file.settle(state, kept);
  }

  async close(): Promise<void> {
    (await this.file)?.close();
    this.file = undefined;
  }

  private owned(write: KeptWrite): KeptWrite {
    return { ...write, owner: this.owner };
  }
}

const ownerOf = ({ database, globalId, identity, subject }: Owner): Owner => ({
  database,
  ...(globalId !== undefined && { globalId }),
  identity,
  subject,
});
