interface Held {
  readonly url: string;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** URLs of files in memory, each until it expires. */
export class BlobUrls {
  private readonly held = new Map<string, Held>();

  /** One URL per name; undefined when there is no such file. */
  async urlOf(
    name: string,
    expiresMs: number,
    read: () => Promise<Blob | undefined>,
  ): Promise<string | undefined> {
    const known = this.held.get(name);
    if (known) return known.url;
    const file = await read();
    // Asked for twice at once: the first one read wins.
    const meanwhile = this.held.get(name);
    if (meanwhile || !file) return meanwhile?.url;
    const url = URL.createObjectURL(file);
    const timer = setTimeout(() => this.revoke(name), Math.max(0, expiresMs - Date.now()));
    this.held.set(name, { url, timer });
    return url;
  }

  close(): void {
    for (const name of this.held.keys()) this.revoke(name);
  }

  private revoke(name: string): void {
    const held = this.held.get(name);
    if (!held) return;
    this.held.delete(name);
    clearTimeout(held.timer);
    URL.revokeObjectURL(held.url);
  }
}
