/** Measures how long a program runs between two turns of the event loop. */
export class Slices {
  /** By kind of turn: the longest slice, and the longest CPU time of a slice. */
  private longest = new Map<string, { ms: number; cpuMs: number }>();
  private begun = performance.now();
  private cpu = process.cpuUsage();
  private outsideMs = 0;
  private outsideCpu = 0;

  /** Ends the slice, and begins another one in the next turn of the event loop. */
  async turn(kind: string): Promise<void> {
    this.end(kind);
    await new Promise((resolve) => setImmediate(resolve));
    this.begin();
  }

  /** Runs `body` without counting its time. */
  async outside<T>(body: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const cpu = process.cpuUsage();
    const result = await body();
    this.outsideMs += performance.now() - begun;
    this.outsideCpu += cpuMs(cpu);
    return result;
  }

  reset(): void {
    this.longest = new Map();
    this.begin();
  }

  toString(): string {
    const each = [...this.longest].map(
      ([kind, { ms, cpuMs: cpu }]) => `${kind} ${ms.toFixed(0)} (CPU ${cpu.toFixed(0)})`,
    );
    return each.sort().join(', ');
  }

  private begin(): void {
    this.begun = performance.now();
    this.cpu = process.cpuUsage();
    this.outsideMs = 0;
    this.outsideCpu = 0;
  }

  private end(kind: string): void {
    const { ms = 0, cpuMs: cpu = 0 } = this.longest.get(kind) ?? {};
    this.longest.set(kind, {
      ms: Math.max(ms, performance.now() - this.begun - this.outsideMs),
      cpuMs: Math.max(cpu, cpuMs(this.cpu) - this.outsideCpu),
    });
  }
}

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};
