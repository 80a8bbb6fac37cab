/** Streaming gzip of log files by fflate. */
import { Gzip } from 'fflate';
import type { GzipStream } from '../src/logs/export-file.ts';

/** No time and no name in the header: the same lines make the same file. */
export function openGzip(): GzipStream {
  let ready: Uint8Array[] = [];
  const gzip = new Gzip({ level: 6, mtime: 0 }, (part) => ready.push(part));
  const taken = (): readonly Uint8Array[] => {
    const parts = ready;
    ready = [];
    return parts;
  };
  return {
    push(bytes) {
      gzip.push(bytes);
      return taken();
    },
    finish() {
      gzip.push(new Uint8Array(0), true);
      return taken();
    },
  };
}
