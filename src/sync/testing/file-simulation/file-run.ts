/** Shared by all parts of one simulation of files: random choices, time, counts and problems. */
import { Chance, Clockwork, turn } from '../simulation/clockwork.ts';

export const FILE_MUTANTS = [
  'chunks are not checked',
  'rights are not checked',
  'verdicts name no files',
  'the hub claims to have every chunk',
  'files with references are removed',
  'a restored hub has the same epoch',
  'a complete file is not announced',
  'a hint that comes during a request is ignored',
] as const;
export type FileMutant = (typeof FILE_MUTANTS)[number];

export interface FileOutcome {
  readonly problems: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

/** Longer than any message is in transit. */
export const KEPT_MS = 60_000;
/** The error of a request that the connection has lost. */
export const LOST = new TypeError('lost');

export class FileRun implements FileOutcome {
  readonly problems: string[] = [];
  readonly counts = new Map<string, number>();
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly mutant: FileMutant | undefined;
  /** Probability that a message is lost; and that it is changed or duplicated. */
  loss = 0.2;
  lies = 0.05;

  constructor(seed: number, mutant: FileMutant | undefined) {
    this.mutant = mutant;
    this.chance = new Chance(seed);
    this.clockwork = new Clockwork(this.chance);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** From now on, nothing fails. */
  calm(): void {
    this.loss = 0;
    this.lies = 0;
  }

  /** Advances the time until the work is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    const state = { isDone: false };
    const end = (): void => {
      state.isDone = true;
    };
    work.then(end, end);
    while (!state.isDone) if (!(await this.clockwork.step())) await turn();
    return work;
  }
}
