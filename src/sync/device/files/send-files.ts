/** Sends files to the hub, once it has the documents that refer to them. */
import type { Micros } from '../../../values/value.ts';
import {
  chunkBytesOf,
  isChunkOf,
  type FileHome,
  type FileName,
  type Sha256,
} from '../../protocol/files.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import type { SyncRefusal, SyncRefusalCode } from '../../protocol/refusals.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { RefusedByHub } from '../syncer/transport.ts';
import type { FileRecord, FileStore } from './file-store.ts';
import type { FileTransport } from './file-transport.ts';

/** Asking again would not help. */
const FINAL: ReadonlySet<string> = new Set<SyncRefusalCode>(['file_not_found', 'file_too_large']);

/** Notes under which documents the files of a confirmed write are to be sent, once they are whole. Those that are not here are of other devices. */
export async function noteFilesOf(
  { files = [], ts }: Pick<Verdict, 'files' | 'ts'>,
  store: FileStore,
): Promise<boolean> {
  const homes = new Map<FileName, FileHome[]>();
  for (const [collection, id, named] of files)
    for (const file of named) homes.set(file, [...(homes.get(file) ?? []), [collection, id]]);
  let isNew = false;
  // All are begun before a later verdict, which a file must not know first.
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

/** Of a damaged one the documents are kept: it is sent once it is whole again. */
export const isToSend = ({ isWhole, unsent }: FileRecord): boolean => isWhole && unsent.length > 0;

/** @returns false when the file is not here */
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
    // One that is damaged is so under any document.
    failed: record.isWhole ? undefined : record.failed,
    unsent: [...record.unsent, ...added],
  };
}

const isSameHome = (a: FileHome, b: FileHome): boolean => a[0] === b[0] && a[1] === b[1];

export interface SendOptions {
  readonly sha256: Sha256;
  /** Of the hub: what was sent under another one is sent again, as far as this one lacks it. */
  readonly epoch: Epoch | undefined;
  /** After each chunk, and when the hub has all of a file or does not take it. */
  readonly onSent: (
    file: Pick<FileRecord, 'file' | 'manifest'>,
    done: number,
    failed: string | undefined,
  ) => void;
  readonly isStopped: () => boolean;
  /**
   * Those that did not get through before, the latest at the end: they are sent after all others, in this order. What a proxy does not
   * let through holds up no others.
   */
  readonly last: Set<FileName>;
}

/**
 * All that is to be sent now, one chunk after the other.
 * @throws RefusedByHub when nothing can be sent now; what the transport rejects with
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
        // Somebody has answered. What rejects without an answer has the name of another class, and is no failure of the file.
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
      // What has changed since may be another answer.
      before?.noted === next.noted ? withSent(before, home, refusal, options) : undefined,
    );
    options.onSent(next, next.manifest.size, refusal?.description);
  }
}

/** A hub that was restored is asked again what it has. */
async function noteEpoch(store: FileStore, epoch: Epoch | undefined): Promise<void> {
  for (const { file, sent, epoch: before } of await store.records())
    if (sent.length > 0 && before !== epoch)
      await store.update(file, (record) => record && atEpoch(record, epoch));
}

/** The hub is asked again about what it had in an earlier epoch. */
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

/** @returns why the hub will never take it */
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

/** It lacks a part. Another `put()` makes it whole, or what is fetched. */
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
  readonly retryAfterMs?: number;
}): SyncRefusal {
  if (FINAL.has(refusal.code)) return refusal;
  throw new RefusedByHub(refusal, retryAfterMs);
}
