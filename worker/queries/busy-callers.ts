/**
 * A query of a few milliseconds never exceeds its time slice, however many such queries there are. So a caller that recently used much
 * evaluation time starts only one query per turn of the event loop, and queries of others that arrive in the meantime run first. Callers
 * are distinguished by their secrets.
 */
import { RecentTime } from '../../hosts/recent-time.ts';
import { pause } from '../browser/pause.ts';

const SHARE_MS = 50;
/** More clients than a page ever uses at a time. */
const CALLERS_MAX = 100;

export class BusyCallers {
  private readonly recent = new RecentTime({ namesMax: CALLERS_MAX });
  /** By caller: the end of the last turn of the event loop that its queries take. */
  private readonly turns = new Map<string, Promise<void>>();

  note(secret = '', ms: number): void {
    this.recent.note(secret, ms);
  }

  /** Undefined when a query of the caller may begin now. A caller that awaits each answer before its next query never waits. */
  whenFree(secret = ''): Promise<void> | undefined {
    const before = this.turns.get(secret);
    if (!before && !this.isBusy(secret)) return undefined;
    const turn = (before ?? Promise.resolve()).then(pause);
    this.turns.set(secret, turn);
    void turn.then(() => {
      if (this.turns.get(secret) === turn) this.turns.delete(secret);
    });
    return before;
  }

  /** Whether the caller is busy, and another caller was active in the last second. */
  holdsUpOthers(secret = ''): boolean {
    return this.isBusy(secret) && !this.recent.isAlone(secret);
  }

  private isBusy(secret: string): boolean {
    return this.recent.of(secret) >= SHARE_MS;
  }
}
