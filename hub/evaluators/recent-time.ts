/** How long this thread has lately evaluated for each credential: over some seconds, the last one counting most. */
import { remember } from '../../src/values/remember.ts';

interface Recent {
  ms: number;
  atMs: number;
}

/** After it, what was counts for a third. */
const FADES_MS = 1000;
const NAMES_MAX = 10_000;

export class RecentTime {
  private readonly nowMs: () => number;
  private readonly byName = new Map<string, Recent>();
  private last = { name: '', atMs: -Infinity };
  /** The last one that was another. */
  private before = this.last;

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
  }

  note(name: string, ms: number): void {
    const atMs = this.nowMs();
    const recent = this.byName.get(name);
    if (recent) {
      recent.ms = faded(recent, atMs) + ms;
      recent.atMs = atMs;
    } else remember(this.byName, name, { ms, atMs }, NAMES_MAX);
    if (this.last.name === name) this.last.atMs = atMs;
    else {
      this.before = this.last;
      this.last = { name, atMs };
    }
  }

  /** ms of the last second, about. */
  of(name: string): number {
    const recent = this.byName.get(name);
    return recent ? faded(recent, this.nowMs()) : 0;
  }

  /** Nobody else was served lately. */
  isAlone(name: string): boolean {
    const other = this.last.name === name ? this.before : this.last;
    return this.nowMs() - other.atMs > FADES_MS;
  }
}

const faded = ({ ms, atMs }: Recent, nowMs: number): number =>
  ms * Math.exp((atMs - nowMs) / FADES_MS);
