/** Sends files to the hub, once it has the documents that refer to them. */
import type { Micros } from '../../../values/value.ts';
import { chunkBytesOf, type FileHome, type FileName } from '../../protocol/files.ts';
import type { SyncRefusal, SyncRefusalCode } from '../../protocol/refusals.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { RefusedByHub } from '../syncer/transport.ts';
import type { FileRecord, FileStore } from './file-store.ts';
import type { FileTransport } from './file-transport.ts';

/** Asking again would not help. */
const FINAL: ReadonlySet<string> = new Set<SyncRefusalCode>([
  'file_not_found',
  'file_too_large',
  'bad_message',
]);

/** Notes under which documents the files of a confirmed write are to be sent. Those that are not here are of other devices. */
export async function noteFilesOf(
  { files = [], ts }: Pick<Verdict, 'files' | 'ts'>,
  store: FileStore,
): Promise<boolean> {
  const homes = new Map<FileName, FileHome[]>();
  for (const [collection, id, named] of files)
    for (const file of named) homes.set(file, [...(homes.get(file) ?? []), [collection, id]]);
  let isNew = false;
  for (const [file, wanted] of homes)
    await store.update(file, (before) => {
      if (!before?.isWhole || before.linkedTs >= ts) return undefined;
      isNew = true;
      return withHomes(before, wanted, ts);
    });
  return isNew;
}

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
  return { ...record, linkedTs, failed: undefined, unsent: [...record.unsent, ...added] };
}

const isSameHome = (a: FileHome, b: FileHome): boolean => a[0] === b[0] && a[1] === b[1];

export interface SendEvents {
  /** After each chunk, and when the hub has all of a file or does not take it. */
  readonly onSent: (
    file: Pick<FileRecord, 'file' | 'manifest'>,
    done: number,
    failed: string | undefined,
  ) => void;
  readonly isStopped: () => boolean;
}

/**
 * All that is to be sent now, one chunk after the other.
 * @throws RefusedByHub when nothing can be sent now; what the transport rejects with
 */
export async function sendFiles(
  store: FileStore,
  transport: FileTransport,
  events: SendEvents,
): Promise<void> {
  for (;;) {
    const next = (await store.records()).find(
      ({ isWhole, unsent }) => isWhole && unsent.length > 0,
    );
    const home = next?.unsent[0];
    if (!next || !home || events.isStopped()) return;
    const refusal = await sendFile(next, home, { store, transport, events });
    if (events.isStopped()) return;
    await store.update(next.file, (before) => {
      if (!before) return undefined;
      const unsent = before.unsent.filter((each) => !isSameHome(each, home));
      return refusal
        ? { ...before, unsent, failed: refusal.description }
        : { ...before, unsent, isSent: true };
    });
    events.onSent(next, next.manifest.size, refusal?.description);
  }
}

interface SendHost {
  readonly store: FileStore;
  readonly transport: FileTransport;
  readonly events: SendEvents;
}

/** @returns why the hub will never take it */
async function sendFile(
  { file, manifest }: FileRecord,
  home: FileHome,
  { store, transport, events }: SendHost,
): Promise<SyncRefusal | undefined> {
  const place = { file, home };
  const begun = await transport.begin(place, manifest);
  if (!begun.ok) return finalOf(begun);
  const { missing } = begun.value;
  let left = missing.reduce((sum, n) => sum + chunkBytesOf(manifest, n), 0);
  for (const n of missing) {
    if (events.isStopped()) return undefined;
    const bytes = await store.chunk(file, n);
    if (!bytes) return { code: 'file_not_found', description: GONE };
    const answer = await transport.write(place, n, bytes);
    if (!answer.ok) return finalOf(answer);
    left -= bytes.length;
    if (left > 0) events.onSent({ file, manifest }, manifest.size - left, undefined);
  }
  return undefined;
}

const GONE = 'The browser has removed a part of the file before it was sent.';

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
