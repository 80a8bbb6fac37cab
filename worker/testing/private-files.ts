/** A fake of the origin private file system. */
import { vi } from 'vitest';

/** A file that can be open in one place only, as in a browser. */
export class FakeFile {
  bytes = new Uint8Array();
  isOpen = false;
  flushes = 0;
  /** The number of bytes it accepts before it is full. */
  room = Infinity;
  /** Called before each change. */
  beforeChange: () => void = () => undefined;
  /** The kind of call before which another tab deletes the file. */
  isGoneBefore: 'open' | 'read' | undefined = undefined;

  createSyncAccessHandle() {
    if (this.isGoneBefore === 'open') {
      this.isGoneBefore = undefined;
      return Promise.reject(new DOMException('', 'NotFoundError'));
    }
    if (this.isOpen) return Promise.reject(new DOMException('', 'NoModificationAllowedError'));
    this.isOpen = true;
    return Promise.resolve({
      getSize: () => this.bytes.length,
      read: () => 0,
      write: (added: Uint8Array, { at }: { at: number }) => {
        this.beforeChange();
        const written = added.subarray(0, Math.max(0, this.room - at));
        const next = new Uint8Array(at + written.length);
        next.set(this.bytes.subarray(0, at));
        next.set(written, at);
        this.bytes = next;
        return written.length;
      },
      truncate: (size: number) => {
        this.beforeChange();
        this.bytes = this.bytes.slice(0, size);
      },
      flush: () => {
        this.flushes += 1;
      },
      close: () => {
        this.isOpen = false;
      },
    });
  }
  getFile() {
    if (this.isGoneBefore === 'read')
      return Promise.resolve({
        text: () => Promise.reject(new DOMException('', 'NotFoundError')),
      });
    return this.isOpen
      ? Promise.reject(new DOMException('', 'NotReadableError'))
      : Promise.resolve(new Blob([this.bytes]));
  }
}

class FakeFolder {
  readonly files = new Map<string, FakeFile>();
  private readonly folders = new Map<string, FakeFolder>();

  getDirectoryHandle(name: string, { create = false } = {}): Promise<FakeFolder> {
    const found = this.folders.get(name) ?? (create ? new FakeFolder() : undefined);
    if (!found) return Promise.reject(new DOMException('', 'NotFoundError'));
    this.folders.set(name, found);
    return Promise.resolve(found);
  }
  getFileHandle(name: string): Promise<FakeFile> {
    const found = this.files.get(name) ?? new FakeFile();
    this.files.set(name, found);
    return Promise.resolve(found);
  }
  removeEntry(name: string): Promise<void> {
    if (this.files.get(name)?.isOpen === true)
      return Promise.reject(new DOMException('', 'NoModificationAllowedError'));
    this.files.delete(name);
    return Promise.resolve();
  }
  async *entries(): AsyncGenerator<[string, FakeFile]> {
    yield* this.files;
  }
}

/** Installs a fake of the origin private file system. */
export async function openStorage() {
  const root = new FakeFolder();
  vi.stubGlobal('navigator', { storage: { getDirectory: () => Promise.resolve(root) } });
  const all = await root.getDirectoryHandle('burrow-outbox', { create: true });
  return { root, folder: await all.getDirectoryHandle('notes', { create: true }) };
}
