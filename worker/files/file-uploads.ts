/** Uploads the files of one database to its hub, once the hub has the documents that refer to them. One tab uploads at a time. */
import { abortWith } from '../../hosts/abort-with.ts';
import { after } from '../../hosts/after.ts';
import type { Sha256 } from '../../src/codec/sha256.ts';
import type { FileProgress } from '../../src/host/files.ts';
import type { FileTransport } from '../../src/sync/device/files/file-transport.ts';
import { noteFilesOf, sendFiles } from '../../src/sync/device/files/send-files.ts';
import type { WriteRecord } from '../../src/sync/device/state/outbox-record.ts';
import type { FileName } from '../../src/sync/protocol/files.ts';
import type { Epoch } from '../../src/sync/protocol/identifiers.ts';
import { whileHeld } from '../tabs/web-locks.ts';
import type { OpenedFiles } from './idb-files.ts';
import { isOfTheNetwork, retryMs } from './network-failures.ts';

export interface FileUploadsOptions {
  readonly name: string;
  readonly locks: LockManager | undefined;
  readonly store: OpenedFiles;
  readonly sha256: Sha256;
  /** The connection to the hub. Undefined when no hub is known or no user is logged in. */
  readonly transport: (signal: AbortSignal) => FileTransport | undefined;
  /** Epoch of the hub. Undefined before the first contact. */
  readonly epoch: () => Promise<Epoch | undefined>;
  /** Whether sync runs in this tab. */
  readonly isSyncing: () => boolean;
  /** The stored writes, with their verdicts if they have any. */
  readonly writes: () => Promise<readonly WriteRecord[]>;
  /** Emits the progress to the page and to the other tabs. */
  readonly emit: (progress: FileProgress) => void;
  /** Asks the tab that syncs to upload the files that are waiting. */
  readonly askToSend: () => void;
  readonly report: (reason: unknown) => void;
}

export class FileUploads {
  private readonly options: FileUploadsOptions;
  private readonly ended: AbortSignal;
  private sending: Promise<void> | undefined = undefined;
  /** The next upload steals the lock from another tab that is uploading, which may be frozen. */
  private takesOver = false;
  private failures = 0;
  private readonly last = new Set<FileName>();
  private cancel: () => void = () => undefined;

  /** @param ended aborted when the database is closed */
  constructor(options: FileUploadsOptions, ended: AbortSignal) {
    this.options = options;
    this.ended = ended;
  }

  /** Called when the hub has confirmed a write. */
  async onVerdict({ verdict }: Pick<WriteRecord, 'verdict'>): Promise<void> {
    const { store } = this.options;
    if (!verdict?.files?.length || !(await store.isUsed())) return;
    if (await noteFilesOf(verdict, store)) this.options.askToSend();
  }

  /** Called when this tab becomes the one that syncs: also processes verdicts that no tab had processed before it was closed. */
  async takeOver(): Promise<void> {
    this.takesOver = true;
    if (!(await this.options.store.isUsed())) return;
    const writes = await this.options.writes();
    const byTime = writes.toSorted((a, b) => (a.verdict?.ts ?? 0) - (b.verdict?.ts ?? 0));
    for (const record of byTime) await this.onVerdict(record);
    this.kick();
  }

  /** Uploads now, because there is reason to: the network is back, or a file is waiting. */
  kick(): void {
    this.failures = 0;
    this.sendSoon();
  }

  /** Resolves when no file is waiting any more. @throws the error that prevents the upload */
  async sendAll(): Promise<void> {
    const { store } = this.options;
    if (this.ended.aborted || !(await store.isUsed())) return;
    this.sending ??= this.sendNow().finally(() => {
      this.sending = undefined;
    });
    await this.sending;
  }

  private sendSoon(): void {
    this.cancel();
    // An upload in progress may already have looked for waiting files for the last time, so another one follows it.
    Promise.resolve(this.sending)
      .catch(() => undefined)
      .then(() => this.sendAll())
      .then(
        () => {
          this.failures = 0;
        },
        (reason: unknown) => this.sendLater(reason),
      );
  }

  private sendLater(reason: unknown): void {
    if (this.ended.aborted) return;
    if (!isOfTheNetwork(reason)) this.options.report(reason);
    this.cancel = after(retryMs(this.failures), () => this.sendSoon());
    this.failures += 1;
  }

  /** Uploads under a lock. If a tab and the service worker both upload, the second one sends what the first has left. */
  private sendNow(): Promise<void> {
    const how = this.takesOver ? { steal: true } : { signal: this.ended };
    this.takesOver = false;
    const { locks, name } = this.options;
    return whileHeld(locks, `burrow:files:${name}`, how, (lost) => this.sendUntil(lost));
  }

  private async sendUntil(lost: AbortSignal): Promise<void> {
    const { store, sha256, transport, epoch, isSyncing, emit } = this.options;
    const stop = abortWith(this.ended, lost);
    const { signal } = stop;
    try {
      const hub = isSyncing() ? transport(signal) : undefined;
      if (!hub) return;
      await sendFiles(store, hub, {
        sha256,
        epoch: await epoch(),
        isStopped: () => signal.aborted || !isSyncing(),
        last: this.last,
        onSent: ({ file, manifest }, done, error) => {
          // Resets the backoff: on an unstable connection, the pauses must not grow.
          if (error === undefined) this.failures = 0;
          emit({ file, way: 'sending', done, size: manifest.size, error });
        },
      });
    } finally {
      stop.abort();
    }
  }
}
