interface Held {
  readonly version: number;
  readonly url: string;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** URLs of files in memory, each until it expires or a newer one of the same file is made. */
export class BlobUrls {
  private readonly held = new Map<string, Held>();

  /** One URL per version of a file, and for older ones that of the newest; undefined when there is no such file. */
  async urlOf(
    { id, version }: { readonly id: string; readonly version: number },
    expiresMs: number,
    read: () => Promise<Blob | undefined>,
  ): Promise<string | undefined> {
    const known = this.held.get(id);
    if (known && known.version >= version) return known.url;
    const file = await read();
    // Asked for twice at once: the first one read wins.
    const meanwhile = this.held.get(id);
    if (meanwhile && meanwhile.version >= version) return meanwhile.url;
    if (!file) return undefined;
    this.revoke(id);
    const url = URL.createObjectURL(file);
    const timer = setTimeout(() => this.revoke(id), Math.max(0, expiresMs - Date.now()));
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
