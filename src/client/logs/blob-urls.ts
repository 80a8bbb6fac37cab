import { LIMITS } from '../../limits.ts';

interface Held {
  readonly version: number;
  readonly url: string;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Blob URLs of files. Each URL is valid until it expires or until a URL of a newer version of the same file is created. */
export class BlobUrls {
  private readonly held = new Map<string, Held>();

  /** The URL of this version of a file, or of a newer one if there is one already; undefined when the file does not exist. */
  async urlOf(
    { id, version }: { readonly id: string; readonly version: number },
    expiresMs: number,
    read: () => Promise<Blob | undefined>,
  ): Promise<string | undefined> {
    const known = this.held.get(id);
    if (known && known.version >= version) return known.url;
    const file = await read();
    // Two calls at once may both read the file: the one that has read it first creates the URL.
    const meanwhile = this.held.get(id);
    if (meanwhile && meanwhile.version >= version) return meanwhile.url;
    if (!file) return undefined;
    this.revoke(id);
    const url = URL.createObjectURL(file);
    // The clock of a database in a test may be far from that of the page.
    const timer = setTimeout(
      () => this.revoke(id),
      Math.min(LIMITS.blobUrlLifeMs, expiresMs - Date.now()),
    );
    this.held.set(id, { version, url, timer });
    return url;
  }

  close(): void {
    for (const id of this.held.keys()) this.revoke(id);
  }

  private revoke(id: string): void {
    const held = this.held.get(id);
    if (!held) return;
    this.held.delete(id);
    clearTimeout(held.timer);
    URL.revokeObjectURL(held.url);
  }
}
