/** Keeps the marker outside up to date with the database: its birth immediately, its head from time to time. */
import type { Row } from '../../src/store/port.ts';
import { markerText, parseMarker, type HeadRow, type Marker } from './birth-stamp.ts';
import { unlessLate } from './deadline.ts';
import { openOutsideMarker, type OutsideMarker } from './outside-marker.ts';

export interface CheckpointOptions {
  readonly head: HeadRow;
  /** The marker to use. `null`: none. Default: one in the browser's storage, if available. */
  readonly marker?: OutsideMarker | null;
  /** How long, in ms, the marker may lag behind the head. */
  readonly checkpointMs?: number;
}

const CHECKPOINT_MS = 5_000;

/** A marker that cannot be read or written is treated as missing; no operation fails because of it. */
export class Checkpoint {
  private readonly options: CheckpointOptions;
  private readonly opening: Promise<OutsideMarker | undefined>;
  private birth = '';
  /** The latest head row that has not been written to the marker. */
  private waiting: Row | undefined = undefined;
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  private isOver = false;
  private writing: Promise<void> = Promise.resolve();

  constructor(name: string, options: CheckpointOptions) {
    const { marker } = options;
    this.options = options;
    this.opening =
      marker === undefined ? openOutsideMarker(name) : Promise.resolve(marker ?? undefined);
  }

  async read(): Promise<Marker | undefined> {
    const reading = this.opening.then((marker) => marker?.read());
    return parseMarker(await unlessLate(reading));
  }

  /** From now on the marker contains this birth. */
  begin(marker: Marker, outside: Marker | undefined): void {
    this.birth = marker.birth;
    if (outside?.birth !== marker.birth || outside.head > marker.head) void this.write(marker);
  }

  record(head: Row): void {
    if (this.isOver) return;
    this.waiting = head;
    const ms = this.options.checkpointMs ?? CHECKPOINT_MS;
    this.timer ??= setTimeout(() => void this.flush(), ms);
  }

  /** Resolves when the marker contains everything recorded so far. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const row = this.waiting;
    this.waiting = undefined;
    if (row) void this.write({ birth: this.birth, head: this.options.head.read(row) });
    await unlessLate(this.writing);
  }

  /** Stops writing the marker: it now belongs to another database. */
  async abandon(): Promise<void> {
    this.isOver = true;
    this.waiting = undefined;
    clearTimeout(this.timer);
    await unlessLate(this.writing);
  }

  private write(marker: Marker): Promise<void> {
    this.writing = this.writing
      .then(async () => (await this.opening)?.write(markerText(marker), () => !this.isOver))
      .catch(() => undefined);
    return this.writing;
  }
}
