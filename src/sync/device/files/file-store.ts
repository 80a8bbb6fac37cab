/** Where a device keeps the bytes of files: outside the query store, which holds no large values. */
import type { Micros } from '../../../values/value.ts';
import type { FileHome, FileName, Manifest } from '../../protocol/files.ts';
import type { Epoch } from '../../protocol/identifiers.ts';

export interface FileRecord {
  readonly file: FileName;
  readonly manifest: Manifest;
  /** All its chunks are here. */
  readonly isWhole: boolean;
  /** When it was put, received, asked for or found to be referred to last, ms since 1970. */
  readonly usedMs: number;
  /** Nothing referred to it at that time. */
  readonly isMissed?: boolean;
  /** Documents at the hub that refer to it, under which it is not there yet. */
  readonly unsent: readonly FileHome[];
  /** How often documents were noted in `unsent`: one that was noted while it was being sent is sent once more. */
  readonly noted: number;
  /** Documents under which the hub has it, as of `epoch`. */
  readonly sent: readonly FileHome[];
  /** Of the hub when it was sent or fetched last: a hub that was restored may have lost it. */
  readonly epoch: Epoch | undefined;
  /** Why the hub did not take it. */
  readonly failed: string | undefined;
  /** Time of the latest verdict whose documents were noted in `unsent`. */
  readonly linkedTs: Micros;
}

/** Shared by all tabs: `update` is one transaction. */
export interface FileStore {
  record(file: FileName): Promise<FileRecord | undefined>;
  records(): Promise<readonly FileRecord[]>;
  /** Changes a record, or makes one. `change` returning undefined leaves all as it was. */
  update(
    file: FileName,
    change: (before: FileRecord | undefined) => FileRecord | undefined,
  ): Promise<FileRecord | undefined>;
  chunk(file: FileName, n: number): Promise<Uint8Array | undefined>;
  /** @throws Refusal `quota_exceeded` */
  putChunk(file: FileName, n: number, bytes: Uint8Array): Promise<void>;
  /** Record and chunks. `isStill`: decided in the transaction that removes. */
  remove(file: FileName, isStill: (record: FileRecord) => boolean): Promise<boolean>;
}

/** For tests, and where nothing is kept. */
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
