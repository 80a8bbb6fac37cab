/** Which chunks were missing when an upload began here: so that not each chunk has the folder listed to see whether the file is whole. */
import { remember } from '../../../values/remember.ts';

const REMEMBERED_MAX = 256;

export class Uploads {
  private readonly missing = new Map<string, Set<number>>();

  begin(folder: string, missing: readonly number[]): void {
    remember(this.missing, folder, new Set(missing), REMEMBERED_MAX);
  }

  /**
   * Whether the file may be whole with this chunk. Chunks that another hub took are not noted here: whoever sends in ascending order has
   * sent those below.
   */
  mayComplete(folder: string, n: number): boolean {
    const left = this.missing.get(folder);
    left?.delete(n);
    return ![...(left ?? [])].some((each) => each > n);
  }
}
