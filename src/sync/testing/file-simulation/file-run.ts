/** What all parts of one simulation of files share: its chances, its time, what it counts and what it finds. */
import { Chance, Clockwork, turn } from '../simulation/clockwork.ts';

export const FILE_MUTANTS = [
  'chunks are not checked',
  'rights are not looked at',
  'verdicts name no files',
  'the hub says that it has everything',
  'what is referred to is removed',
  'a restored hub is not asked again',
  'a file that has become whole is not announced',
  'what is heard while the hub is asked is forgotten',
] as const;
export type FileMutant = (typeof FILE_MUTANTS)[number];

export interface FileOutcome {
  readonly problems: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

/** Longer than anything is on its way. */
export const KEPT_MS = 60_000;
/** What a request that a line has lost ends with. */
export const LOST = new TypeError('lost');

export class FileRun implements FileOutcome {
  readonly problems: string[] = [];
  readonly counts = new Map<string, number>();
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly mutant: FileMutant | undefined;
  /** How likely something is lost, and changed or sent twice. */
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

  /** From now on everything works. */
  calm(): void {
    this.loss = 0;
    this.lies = 0;
  }

  /** Time goes on until it is done. */
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
