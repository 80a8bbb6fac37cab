/** Sends files to the hub after the hub has received the documents that refer to them. */
import type { Sha256 } from '../../../codec/sha256.ts';
import type { Micros } from '../../../values/value.ts';
import { chunkBytesOf, isChunkOf, type FileHome, type FileName } from '../../protocol/files.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import type { SyncRefusal, SyncRefusalCode } from '../../protocol/refusals.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { RefusedByHub } from '../syncer/transport.ts';
import type { FileRecord, FileStore } from './file-store.ts';
import type { FileTransport } from './file-transport.ts';

/** Refusals after which a retry would not help. */
const FINAL: ReadonlySet<string> = new Set<SyncRefusalCode>(['file_not_found', 'file_too_large']);

/** Records for which documents the files of a confirmed write must be sent. Files that are not stored here belong to other devices. */
export async function noteFilesOf(
  { files = [], ts }: Pick<Verdict, 'files' | 'ts'>,
  store: FileStore,
): Promise<boolean> {
  const homes = new Map<FileName, FileHome[]>();
  for (const [collection, id, named] of files)
    for (const file of named) homes.set(file, [...(homes.get(file) ?? []), [collection, id]]);
  let isNew = false;
  // All updates start before those of a later verdict, so no file records a later verdict before an earlier one.
  await Promise.all(
    [...homes].map(([file, wanted]) =>
      store.update(file, (before) => {
        if (!before || before.linkedTs >= ts) return undefined;
        isNew = true;
        return withHomes(before, wanted, ts);
      }),
    ),
  );
  return isNew;
}

/** A damaged file keeps its `unsent` documents, and is sent when it is whole again. */
export const isToSend = ({ isWhole, unsent }: FileRecord): boolean => isWhole && unsent.length > 0;

/** Records that the file must be sent for a document. @returns false if this device does not have the whole file */
export async function noteHome(
  file: FileName,
  home: FileHome,
  store: Pick<FileStore, 'update'>,
): Promise<boolean> {
  const record = await store.update(file, (before) =>
    before?.isWhole ? withHomes(before, [home], before.linkedTs) : undefined,
  );
  return record?.isWhole ?? false;
}

function withHomes(record: FileRecord, homes: readonly FileHome[], linkedTs: Micros): FileRecord {
  const added = homes.filter((home) => !record.unsent.some((each) => isSameHome(each, home)));
  const { noted } = record;
  return {
    ...record,
    linkedTs,
    noted: noted + 1,
    // A damaged file cannot be sent for any document, so its error stays.
    failed: record.isWhole ? undefined : record.failed,
    unsent: [...record.unsent, ...added],
  };
}

const isSameHome = (a: FileHome, b: FileHome): boolean => a[0] === b[0] && a[1] === b[1];

export interface SendOptions {
  readonly sha256: Sha256;
  /** Epoch of the hub. Files that were sent in another epoch are sent again, as far as the hub does not have them. */
  readonly epoch: Epoch | undefined;
  /** Called after each chunk, and when the hub has all of a file or refuses it. */
  readonly onSent: (
    file: Pick<FileRecord, 'file' | 'manifest'>,
    done: number,
    failed: string | undefined,
  ) => void;
  readonly isStopped: () => boolean;
  /**
   * Files whose transfer failed before, the latest failure at the end. They are sent after all others, in this order, so that a file that
   * a proxy blocks does not hold up other files.
   */
  readonly last: Set<FileName>;
}

/**
 * Sends all files that are to be sent now, one chunk after the other.
 * @throws RefusedByHub if nothing can be sent now; errors of the transport
 */
export async function sendFiles(
  store: FileStore,
  transport: FileTransport,
  options: SendOptions,
): Promise<void> {
  await noteEpoch(store, options.epoch);
  for (;;) {
    const failed = [...options.last];
    const [next] = (await store.records())
      .filter(isToSend)
      .toSorted((one, other) => failed.indexOf(one.file) - failed.indexOf(other.file));
    const home = next?.unsent[0];
    if (!next || !home || options.isStopped()) return;
    const refusal = await sendFile(next, home, { store, transport, options }).catch(
      async (reason: Error) => {
        options.last.delete(next.file);
        options.last.add(next.file);
        // A plain `Error` means that a server has answered. Errors without an answer have other names and are not the file's fault.
        if (reason.name === 'Error')
          await store.update(
            next.file,
            (before) => before && { ...before, failed: reason.message },
          );
        throw reason;
      },
    );
    if (options.isStopped()) return;
    await store.update(next.file, (before) =>
      // If a document was added while the file was being sent, the result may be outdated.
      before?.noted === next.noted ? withSent(before, home, refusal, options) : undefined,
    );
    options.onSent(next, next.manifest.size, refusal?.description);
  }
}

/** After the hub was restored, checks again which files it has. */
async function noteEpoch(store: FileStore, epoch: Epoch | undefined): Promise<void> {
  for (const { file, sent, epoch: before } of await store.records())
    if (sent.length > 0 && before !== epoch)
      await store.update(file, (record) => record && atEpoch(record, epoch));
}

/** If the file was sent in another epoch, marks it to be checked with the hub again. */
export const atEpoch = (record: FileRecord, epoch: Epoch | undefined): FileRecord =>
  record.sent.length === 0 || record.epoch === epoch
    ? record
    : { ...withHomes(record, record.sent, record.linkedTs), sent: [], epoch };

export function withSent(
  record: FileRecord,
  home: FileHome,
  refusal: SyncRefusal | undefined,
  { epoch }: Pick<SendOptions, 'epoch'>,
): FileRecord {
  if (refusal === DAMAGED) return damaged(record);
  const unsent = record.unsent.filter((each) => !isSameHome(each, home));
  if (refusal) return { ...record, unsent, failed: refusal.description };
  const sent = [...record.sent.filter((each) => !isSameHome(each, home)), home];
  return { ...record, unsent, sent, epoch, failed: undefined };
}

interface SendHost {
  readonly store: FileStore;
  readonly transport: FileTransport;
  readonly options: SendOptions;
}

/** @returns why the hub will never accept the file; undefined if it did accept it, or the transfer was stopped */
async function sendFile(
  { file, manifest }: FileRecord,
  home: FileHome,
  { store, transport, options }: SendHost,
): Promise<SyncRefusal | undefined> {
  const place = { file, home };
  const begun = await transport.begin(place, manifest);
  if (!begun.ok) return finalOf(begun);
  const { missing } = begun.value;
  let left = missing.reduce((sum, n) => sum + chunkBytesOf(manifest, n), 0);
  for (const n of missing) {
    if (options.isStopped()) return undefined;
    const bytes = await store.chunk(file, n);
    if (!bytes || !isChunkOf(manifest, n, bytes, options.sha256)) return DAMAGED;
    const answer = await transport.write(place, n, bytes);
    if (!answer.ok) return finalOf(answer);
    left -= bytes.length;
    if (left > 0) options.onSent({ file, manifest }, manifest.size - left, undefined);
  }
  return undefined;
}

/** A part of the file is missing. Another `put()` or download completes it. */
export const damaged = (record: FileRecord): FileRecord => ({
  ...record,
  isWhole: false,
  failed: DAMAGED.description,
});

const DAMAGED: SyncRefusal = {
  code: 'file_not_found',
  description:
    'A part of the file is lost or damaged on this device: put it again, or get it from the hub.',
};

/** @throws RefusedByHub */
function finalOf({
  refusal,
  retryAfterMs,
}: {
  readonly refusal: SyncRefusal;
  readonly retryAfterMs?: number | undefined;
}): SyncRefusal {
  if (FINAL.has(refusal.code)) return refusal;
  throw new RefusedByHub(refusal, retryAfterMs);
}
