/** Stores the bytes of files on a device, outside of the query store, which is not made for large values. */
import type { Micros } from '../../../values/value.ts';
import type { FileHome, FileName, Manifest } from '../../protocol/files.ts';
import type { Epoch } from '../../protocol/identifiers.ts';

export interface FileRecord {
  readonly file: FileName;
  readonly manifest: Manifest;
  /** All chunks are stored. */
  readonly isWhole: boolean;
  /** When the file was last stored, received, requested or found in a document, ms since the Unix epoch. */
  readonly usedMs: number;
  /** At `usedMs`, a sweep found no reference to the file. */
  readonly isMissed?: boolean;
  /** Documents at the hub that refer to the file, for which it has not been sent yet. */
  readonly unsent: readonly FileHome[];
  /** How often documents were added to `unsent`. If one is added while the file is being sent, the file is sent once more. */
  readonly noted: number;
  /** Documents for which the hub has the file, as of `epoch`. */
  readonly sent: readonly FileHome[];
  /** The hub's epoch when the file was last sent or fetched. A hub that was restored may have lost the file. */
  readonly epoch: Epoch | undefined;
  /** Why the hub did not accept the file. */
  readonly failed: string | undefined;
  /** Time of the latest verdict whose documents were added to `unsent`. */
  readonly linkedTs: Micros;
}

/** Shared by all tabs. `update` is one transaction. */
export interface FileStore {
  record(file: FileName): Promise<FileRecord | undefined>;
  records(): Promise<readonly FileRecord[]>;
  /** Changes or creates a record. If `change` returns undefined, nothing is changed. */
  update(
    file: FileName,
    change: (before: FileRecord | undefined) => FileRecord | undefined,
  ): Promise<FileRecord | undefined>;
  chunk(file: FileName, n: number): Promise<Uint8Array | undefined>;
  /** @throws Refusal `quota_exceeded` */
  putChunk(file: FileName, n: number, bytes: Uint8Array): Promise<void>;
  /** Removes the record and the chunks. `isStill` is checked in the transaction that removes them. */
  remove(file: FileName, isStill: (record: FileRecord) => boolean): Promise<boolean>;
}

/** In memory, for tests and for databases that are not persistent. */
export function createMemoryFiles(): FileStore {
  const records = new Map<FileName, FileRecord>();
  const chunks = new Map<string, Uint8Array>();
  return {
    record: async (file) => records.get(file),
    records: async () => [...records.values()],
    async update(file, change) {
      const next = change(records.get(file));
      if (next) records.set(file, next);
      return next ?? records.get(file);
    },
    chunk: async (file, n) => chunks.get(`${file} ${n}`),
    putChunk: async (file, n, bytes) => void chunks.set(`${file} ${n}`, bytes.slice()),
    async remove(file, isStill) {
      const record = records.get(file);
      if (!record || !isStill(record)) return false;
      records.delete(file);
      for (const key of chunks.keys()) if (key.startsWith(`${file} `)) chunks.delete(key);
      return true;
    },
  };
}
