/** The chunks that were missing when an upload began here. With them, the folder need not be listed after each chunk. */
import { remember } from '../../../values/remember.ts';

const REMEMBERED_MAX = 256;

export class Uploads {
  private readonly missing = new Map<string, Set<number>>();

  begin(folder: string, missing: readonly number[]): void {
    remember(this.missing, folder, new Set(missing), REMEMBERED_MAX);
  }

  /**
   * Whether the file may be complete with this chunk. Chunks sent to another hub are not noted here, so chunks below this one count as
   * sent: devices send them in ascending order.
   */
  mayComplete(folder: string, n: number): boolean {
    const left = this.missing.get(folder);
    left?.delete(n);
    return ![...(left ?? [])].some((each) => each > n);
  }
}
