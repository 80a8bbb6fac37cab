/** Interleavings of tabs and maintenance that the simulation must produce, with counts. */
export const CROSSINGS = [
  'a commit found its number taken',
  'a commit found another before it',
  'a claim found its number taken',
  'a flip found its number taken',
  'a flush or merge was overtaken before its flip',
  'a tab slept while the log was cut',
  'a reader found a block missing',
  'a body ran again',
  'a tab read while it wrote',
  'a commit failed and had arrived',
  'a commit failed and had not arrived',
  'a claim failed and had arrived',
  'a claim failed and had not arrived',
  'a flip failed and had arrived',
  'a flip failed and had not arrived',
  'a commit lost its connection, and another tab came first',
  'a claim lost its connection, and another tab came first',
  'a flip lost its connection, and another tab came first',
  'a read showed a commit that had failed',
  'a tab with the lease read after its commit had failed',
  'killed with a commit asked for',
  'killed with a commit stored and not answered',
  'killed between putting blocks and the flip',
  'killed between the flip and the cut',
  'killed while reading',
  'a thawed tab found its commit refused',
  'a thawed tab put blocks after another flip',
  'the lock of a frozen tab was stolen',
  'tables were merged',
  'deletions were flushed above older rows',
  'orphans were swept',
  'a tab held the lease',
  'a tab was warmed',
  'a flip came while a tab was warmed',
  'a tab received what comes next',
  'a tab received what it cannot use',
  'a stale read showed less than the newest commit',
  'a stale read showed what another tab has broadcast',
] as const;
export type Crossing = (typeof CROSSINGS)[number];

export class Crossings {
  private readonly counts = new Map<Crossing, number>();

  note(crossing: Crossing): void {
    this.counts.set(crossing, this.of(crossing) + 1);
  }

  of(crossing: Crossing): number {
    return this.counts.get(crossing) ?? 0;
  }

  add(other: Crossings): void {
    for (const crossing of CROSSINGS)
      this.counts.set(crossing, this.of(crossing) + other.of(crossing));
  }

  get never(): readonly Crossing[] {
    return CROSSINGS.filter((crossing) => this.of(crossing) === 0);
  }
}
