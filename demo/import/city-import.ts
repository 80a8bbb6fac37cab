/**
 * Imports the shipped cities into the database, in batches. Each batch is one transaction, which also stores the progress: an interrupted
 * import resumes where it stopped, and no city is imported twice.
 */
import { q, type Client } from '../../src/index.ts';
import { fetchCities, fetchCityList, type City, type CityList } from './city-files.ts';

/** Cities per transaction: enough to keep the overhead of a transaction small, few enough for the progress bar to move often. */
const BATCH = 1000;
/** Web Lock: only one tab imports at a time. Another tab takes over when the first one is closed. */
const LOCK = 'burrow-cities-import';

const stateRef = q.Ref(q.Collection('settings'), '2');

/** Progress as it is stored in the database. */
export interface ImportState {
  readonly done: number;
  readonly total: number;
  readonly source: string;
  readonly countries: Readonly<Record<string, number>>;
}

/** Null before the first batch is stored. */
const storedState = q.If(q.Exists(stateRef), q.Select<ImportState>('data', q.Get(stateRef)), null);

type Phase = 'waiting' | 'running' | 'paused' | 'failed' | 'complete';

export interface ImportProgress {
  readonly phase: Phase;
  /** Undefined until it has been read. */
  readonly state: ImportState | undefined;
  /** Documents per second over the last batches of this tab. Undefined until two batches are done. */
  readonly speed: number | undefined;
  readonly error: unknown;
}

const FIRST: ImportProgress = {
  phase: 'waiting',
  state: undefined,
  speed: undefined,
  error: undefined,
};

export class CityImport extends EventTarget {
  private readonly server: Client;
  private readonly meter = new SpeedMeter();
  private running: AbortController | undefined;
  private latest = FIRST;

  constructor(server: Client) {
    super();
    this.server = server;
    // Also follows an import that another tab runs.
    server.subscribe(storedState, {
      next: (state) => this.receive(state),
      error: (error) => this.change({ error }),
    });
  }

  get progress(): ImportProgress {
    return this.latest;
  }

  private get isComplete(): boolean {
    return this.latest.phase === 'complete';
  }

  /** Resolves when all cities are imported, `pause` is called, or the import fails. */
  async run(): Promise<void> {
    if (this.running || this.isComplete) return;
    const running = new AbortController();
    this.running = running;
    const { signal } = running;
    try {
      this.receive(await this.server.query(storedState));
      if (this.isComplete) return;
      this.change({ phase: 'running', error: undefined });
      await navigator.locks.request(LOCK, { signal }, () => this.importRest(signal));
    } catch (error) {
      this.change(signal.aborted ? { phase: 'paused' } : { phase: 'failed', error });
    } finally {
      this.running = undefined;
      this.meter.restart();
    }
  }

  /** Stops after the current batch. */
  pause(): void {
    this.running?.abort();
  }

  private async importRest(signal: AbortSignal): Promise<void> {
    let done = (await this.server.query(storedState))?.done ?? 0;
    let list: CityList | undefined;
    let file = -1;
    let cities: readonly City[] = [];
    for (;;) {
      signal.throwIfAborted();
      list ??= await fetchCityList(signal);
      if (done >= list.total) break;
      const wanted = Math.floor(done / list.rowsPerFile);
      if (wanted !== file) cities = await fetchCities(list, wanted, signal);
      file = wanted;
      const start = done - file * list.rowsPerFile;
      const batch = cities.slice(start, start + BATCH);
      if (batch.length === 0) throw new Error('The city files do not match their list.');
      done = await this.server.query<number>(writeBatch(list, done, batch));
      this.meter.add(batch.length);
    }
  }

  private receive(state: ImportState | null): void {
    if (!state) return;
    const isComplete = state.done >= state.total;
    this.change({ state, speed: this.meter.speed, ...(isComplete && { phase: 'complete' }) });
  }

  private change(changes: Partial<ImportProgress>): void {
    this.latest = { ...this.latest, ...changes };
    this.dispatchEvent(new Event('change'));
  }
}

/** Writes a batch and the progress, unless another tab has already written the batch. Returns the progress. */
function writeBatch(list: CityList, from: number, batch: readonly City[]) {
  const { total, source, countries } = list;
  const to = from + batch.length;
  const rows = batch.map((data) => ({ id: String(data.cityId), data }));
  const write = q.Foreach(rows, (row) =>
    q.Create(q.Ref(q.Collection('cities'), q.Select('id', row)), { data: q.Select('data', row) }),
  );
  const data = { done: to, total, source, countries };
  const keep =
    from === 0 ? q.Create(stateRef, { data }) : q.Update(stateRef, { data: { done: to } });
  const before = q.If(q.Exists(stateRef), q.Select(['data', 'done'], q.Get(stateRef)), 0);
  return q.Let({ before }, (before) => q.If(q.Equals(before, from), q.Do(write, keep, to), before));
}

/** Measures the speed over the batches of the last seconds. */
class SpeedMeter {
  private readonly marks: { readonly time: number; readonly count: number }[] = [];

  restart(): void {
    this.marks.length = 0;
  }

  add(count: number): void {
    this.marks.push({ time: performance.now(), count });
    if (this.marks.length > 12) this.marks.shift();
  }

  /** Cities per second. Undefined until there are two batches to measure between. */
  get speed(): number | undefined {
    const [first, ...rest] = this.marks;
    const last = rest.at(-1);
    if (!first || !last) return undefined;
    const count = rest.reduce((sum, mark) => sum + mark.count, 0);
    return (count * 1000) / (last.time - first.time);
  }
}
