/** How much time this thread has recently spent evaluating queries of each caller. Older time counts less. */
import { remember } from '../src/values/remember.ts';

interface Recent {
  ms: number;
  atMs: number;
}

/** After this many ms, earlier time counts for about a third (1/e). */
const FADES_MS = 1000;
const NAMES_MAX = 10_000;

interface RecentTimeOptions {
  readonly nowMs?: () => number;
  readonly namesMax?: number;
}

export class RecentTime {
  private readonly nowMs: () => number;
  private readonly namesMax: number;
  private readonly byName = new Map<string, Recent>();
  private last = { name: '', atMs: -Infinity };
  /** The last use by a caller other than the one in `last`. */
  private before = this.last;

  /** @param namesMax how many callers are remembered: the latest ones */
  constructor({ nowMs = () => performance.now(), namesMax = NAMES_MAX }: RecentTimeOptions = {}) {
    this.nowMs = nowMs;
    this.namesMax = namesMax;
  }

  note(name: string, ms: number): void {
    const atMs = this.nowMs();
    const recent = this.byName.get(name);
    if (recent) {
      recent.ms = faded(recent, atMs) + ms;
      recent.atMs = atMs;
    } else remember(this.byName, name, { ms, atMs }, this.namesMax);
    if (this.last.name === name) this.last.atMs = atMs;
    else {
      this.before = this.last;
      this.last = { name, atMs };
    }
  }

  /** Roughly the ms spent in the last second. */
  of(name: string): number {
    const recent = this.byName.get(name);
    return recent ? faded(recent, this.nowMs()) : 0;
  }

  /** Whether no other caller was served recently. */
  isAlone(name: string): boolean {
    const other = this.last.name === name ? this.before : this.last;
    return this.nowMs() - other.atMs > FADES_MS;
  }
}

const faded = ({ ms, atMs }: Recent, nowMs: number): number =>
  ms * Math.exp((atMs - nowMs) / FADES_MS);
