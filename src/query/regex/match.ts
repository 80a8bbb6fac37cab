/**
 * Runs a program over a text and follows all alternatives at once. Each instruction is tested at most once per code
 * point, so time is bounded by the product of the two lengths. Of several matches the result is the one that a
 * backtracking matcher would find first.
 */
import type { Instruction } from './compile.ts';
import type { Subject } from './subject.ts';

/** Start and end of the match and of each group. -1 for a group that did not take part. */
export type Slots = readonly number[];

/** The alternatives that are alive at one position, preferred ones first. */
class Threads {
  readonly instructions: Int32Array;
  readonly slots: Slots[] = [];
  count = 0;
  private readonly seen: Uint32Array;
  private round = 1;

  constructor(size: number) {
    this.instructions = new Int32Array(size);
    this.seen = new Uint32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.round += 1;
  }

  /** Returns true the first time in a round. */
  enter(instruction: number): boolean {
    if (this.seen[instruction] === this.round) return false;
    this.seen[instruction] = this.round;
    return true;
  }

  add(instruction: number, slots: Slots): void {
    this.instructions[this.count] = instruction;
    this.slots[this.count] = slots;
    this.count += 1;
  }
}

const STEPS_BETWEEN_REPORTS = 4096;
const ASSERTION_COST = 8;

export class Matcher {
  private readonly program: readonly Instruction[];
  private readonly subject: Subject;
  /** Slots beyond this number are not stored. */
  private readonly slotCount: number;
  private readonly report: (steps: number) => void;
  private current: Threads;
  private following: Threads;
  private steps = 0;
  // Instructions still to be followed from one position, the preferred one last.
  private readonly pending: number[] = [];
  private readonly pendingSlots: Slots[] = [];

  /** @param report is called now and then with the number of steps since the last call; it may throw to stop the search */
  constructor(
    program: readonly Instruction[],
    subject: Subject,
    slotCount: number,
    report: (steps: number) => void,
  ) {
    this.program = program;
    this.subject = subject;
    this.slotCount = slotCount;
    this.report = report;
    this.current = new Threads(program.length);
    this.following = new Threads(program.length);
  }

  /** Returns the first match that starts at `from` or later. */
  find(from: number): Slots | undefined {
    const { codes, length } = this.subject;
    let found: Slots | undefined;
    this.current.clear();
    for (let at = from; at <= length; at += 1) {
      if (!found) this.follow(this.current, 0, at, this.fresh(at));
      else if (this.current.count === 0) break;
      this.following.clear();
      found = this.step(codes[at] ?? -1, at) ?? found;
      [this.current, this.following] = [this.following, this.current];
    }
    return found;
  }

  private fresh(at: number): Slots {
    return [at, -1, ...Array<number>(this.slotCount - 2).fill(-1)];
  }

  /** Moves all alternatives past one code point. When one matches, those less preferred are dropped. */
  private step(code: number, at: number): Slots | undefined {
    const { current, program } = this;
    for (let index = 0; index < current.count; index += 1) {
      const pc = current.instructions[index] ?? 0;
      const slots = current.slots[index] ?? [];
      const instruction = program[pc];
      if (instruction?.op === 'match') return slots.with(1, at);
      if (code < 0) continue;
      if (instruction?.op === 'char') {
        if (instruction.code === code) {
          this.follow(this.following, instruction.next, at + 1, slots);
        }
      } else if (instruction?.op === 'set') {
        this.spend(instruction.set.cost);
        if (instruction.set.has(code)) {
          this.follow(this.following, instruction.next, at + 1, slots);
        }
      }
    }
    this.spend(current.count + 1);
    return undefined;
  }

  private spend(steps: number): void {
    this.steps += steps;
    if (this.steps >= STEPS_BETWEEN_REPORTS) this.flush();
  }

  /** Reports the steps not yet reported. */
  flush(): void {
    const { steps } = this;
    this.steps = 0;
    this.report(steps);
  }

  /** Adds all instructions that can be reached from `start` without reading a code point. */
  private follow(threads: Threads, start: number, at: number, given: Slots): void {
    const { pending, pendingSlots, program } = this;
    pending.push(start);
    pendingSlots.push(given);
    for (;;) {
      const pc = pending.pop();
      const slots = pendingSlots.pop();
      if (pc === undefined || slots === undefined) return;
      const instruction = program[pc];
      this.steps += 1;
      if (!threads.enter(pc)) continue;
      switch (instruction?.op) {
        case 'jump':
          this.later(instruction.to, slots);
          break;
        case 'split':
          this.later(instruction.second, slots);
          this.later(instruction.first, slots);
          break;
        case 'save':
          this.later(pc + 1, this.saved(slots, instruction.slot, at));
          break;
        case 'assert':
          this.steps += ASSERTION_COST;
          if (this.subject.holds(instruction.assertion, at)) this.later(pc + 1, slots);
          break;
        default:
          threads.add(pc, slots);
      }
    }
  }

  private later(pc: number, slots: Slots): void {
    this.pending.push(pc);
    this.pendingSlots.push(slots);
  }

  private saved(slots: Slots, slot: number, at: number): Slots {
    if (slot >= this.slotCount) return slots;
    this.steps += this.slotCount >> 3;
    return slots.with(slot, at);
  }
}
