/** Compiles the tree of a pattern to a program for the matcher. */
import { LIMITS } from '../../limits.ts';
import { unreachable } from '../../errors.ts';
import { PatternError, type Assertion, type CharSet, type RegexNode } from './node.ts';

export type Instruction =
  /** Matches a code point and continues at `next`. */
  | { readonly op: 'char'; readonly code: number; readonly next: number }
  | { readonly op: 'set'; readonly set: CharSet; readonly next: number }
  | { readonly op: 'assert'; readonly assertion: Assertion }
  /** Continues at both instructions. `first` is preferred. */
  | { readonly op: 'split'; readonly first: number; readonly second: number }
  | { readonly op: 'jump'; readonly to: number }
  /** Stores the position in a slot: even slots are starts, odd slots ends of group `slot / 2`, rounded down. */
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'match' };

/**
 * The program of a pattern. It starts at instruction 0.
 * @throws PatternError when repetitions make it too long
 */
export function compile(node: RegexNode): readonly Instruction[] {
  const compiler = new Compiler();
  compiler.emit(node);
  compiler.push({ op: 'match' });
  return compiler.program;
}

class Compiler {
  readonly program: Instruction[] = [];

  push(instruction: Instruction): number {
    if (this.program.length >= LIMITS.regexInstructions) throw new PatternError('too long');
    return this.program.push(instruction) - 1;
  }

  emit(node: RegexNode): void {
    switch (node.kind) {
      case 'empty':
        return;
      case 'char':
        this.push({ op: 'char', code: node.code, next: this.program.length + 1 });
        return;
      case 'set':
        this.push({ op: 'set', set: node.set, next: this.program.length + 1 });
        return;
      case 'assert':
        this.push({ op: 'assert', assertion: node.assertion });
        return;
      case 'sequence':
        for (const item of node.items) this.emit(item);
        return;
      case 'choice':
        this.choice(node.items);
        return;
      case 'repeat':
        this.repeat(node);
        return;
      case 'group':
        this.push({ op: 'save', slot: node.number * 2 });
        this.emit(node.item);
        this.push({ op: 'save', slot: node.number * 2 + 1 });
        return;
      default:
        unreachable(node);
    }
  }

  private choice(items: readonly RegexNode[]): void {
    const ends: number[] = [];
    items.forEach((item, index) => {
      const isLast = index === items.length - 1;
      const split = isLast ? undefined : this.reserve();
      this.emit(item);
      if (split === undefined) return;
      ends.push(this.reserve());
      this.set(split, { op: 'split', first: split + 1, second: this.program.length });
    });
    for (const end of ends) this.set(end, { op: 'jump', to: this.program.length });
  }

  /** Adds a placeholder for an instruction that is set later. */
  private reserve(): number {
    return this.push({ op: 'match' });
  }

  private set(at: number, instruction: Instruction): void {
    this.program[at] = instruction;
  }

  private repeat(node: RepeatNode): void {
    const { min, max, lazy } = node;
    const leaves: number[] = [];
    const turn = canBeEmpty(node.item)
      ? () => this.turnThatMayBeEmpty(node.item, leaves)
      : () => this.emit(node.item);
    const splits: [at: number, into: number][] = [];
    const required = max === Infinity ? Math.max(min - 1, 0) : min;
    for (let count = 0; count < required; count += 1) {
      const before = this.program.length;
      turn();
      // An item without instructions matches the empty text, however often it is repeated.
      if (this.program.length === before) return;
    }
    if (max === Infinity) this.loop(turn, min > 0, splits);
    else this.optional(turn, max - min, splits);
    const past = this.program.length;
    for (const [at, into] of splits) this.set(at, splitOf(into, past, lazy));
    for (const at of leaves) this.set(at, { op: 'jump', to: past });
  }

  /**
   * One or more iterations, each followed by the choice to continue. Unless `atLeastOnce`, they start with the choice
   * to skip all.
   */
  private loop(turn: () => void, atLeastOnce: boolean, splits: [number, number][]): void {
    const skip = atLeastOnce ? undefined : this.reserve();
    const start = this.program.length;
    turn();
    splits.push([this.reserve(), start]);
    if (skip !== undefined) splits.push([skip, start]);
  }

  /** Up to `count` iterations, each nested in the one before. */
  private optional(turn: () => void, count: number, splits: [number, number][]): void {
    for (let done = 0; done < count; done += 1) {
      splits.push([this.reserve(), this.program.length]);
      const before = this.program.length;
      turn();
      if (this.program.length === before) return;
    }
  }

  /**
   * An iteration that matches nothing must be the last one. So the item is compiled twice. In the first copy nothing
   * has been matched yet, and reaching its end leaves the loop. As soon as something is matched, the second copy
   * continues.
   */
  private turnThatMayBeEmpty(item: RegexNode, leaves: number[]): void {
    const start = this.program.length;
    this.emit(item);
    const end = this.program.length;
    if (end === start) return;
    leaves.push(this.reserve());
    const distance = end + 1 - start;
    for (let at = start; at < end; at += 1) {
      const instruction = this.program[at];
      if (!instruction) continue;
      const copy = moved(instruction, distance);
      this.push(copy);
      if (copy.op === 'char' || copy.op === 'set') this.set(at, copy);
    }
  }
}

type RepeatNode = Extract<RegexNode, { readonly kind: 'repeat' }>;

function canBeEmpty(node: RegexNode): boolean {
  switch (node.kind) {
    case 'char':
    case 'set':
      return false;
    case 'empty':
    case 'assert':
      return true;
    case 'sequence':
      return node.items.every(canBeEmpty);
    case 'choice':
      return node.items.some(canBeEmpty);
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.item);
    case 'group':
      return canBeEmpty(node.item);
    default:
      return unreachable(node);
  }
}

/** The same instruction with its targets moved by `distance`. */
function moved(instruction: Instruction, distance: number): Instruction {
  switch (instruction.op) {
    case 'char':
    case 'set':
      return { ...instruction, next: instruction.next + distance };
    case 'split': {
      const { first, second } = instruction;
      return { op: 'split', first: first + distance, second: second + distance };
    }
    case 'jump':
      return { op: 'jump', to: instruction.to + distance };
    default:
      return instruction;
  }
}

const splitOf = (into: number, past: number, lazy: boolean): Instruction => ({
  op: 'split',
  first: lazy ? past : into,
  second: lazy ? into : past,
});
