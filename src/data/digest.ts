/** Digest of lines in their order, computed block by block, because browsers have no SHA-256 that takes its input in parts. */
import { hexOfBytes } from '../codec/hex.ts';
import { DATA_LIMITS } from '../limits.ts';

/** Each block's digest is that of its lines and the digest before it. */
export class LinesDigest {
  private block: string[] = [];
  private last = '';
  lines = 0;

  async add(line: string): Promise<void> {
    this.lines += 1;
    this.block.push(line);
    if (this.block.length === DATA_LIMITS.digestLines) await this.digestBlock();
  }

  /** Returns the digest in hexadecimal. */
  async end(): Promise<string> {
    await this.digestBlock();
    return this.last;
  }

  private async digestBlock(): Promise<void> {
    const bytes = new TextEncoder().encode([this.last, ...this.block].join('\n'));
    this.block = [];
    this.last = await sha256Hex(bytes);
  }
}

export const sha256Hex = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  hexOfBytes(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
