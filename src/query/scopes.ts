/** The variables in scope while a query is parsed. Each use of a variable is resolved to a frame and an index. */
import type { Variable } from './node.ts';

interface Binding {
  readonly depth: number;
  readonly index: number;
}

/** One lambda that is being parsed. */
interface Closing {
  readonly depth: number;
  /** The outer variables that it uses, by name. */
  readonly free: Map<string, Variable>;
}

/** Every `enter` needs its `leave`, even if something fails in between, because parsing continues to find more faults. */
export class Scopes {
  private readonly byName = new Map<string, Binding[]>();
  /** Names bound in each open frame. */
  private readonly frames: string[][] = [];
  private readonly closings: Closing[] = [];

  enterFrame(): void {
    this.frames.push([]);
  }

  /** Binds a name in the innermost frame. */
  bind(name: string, index: number): void {
    const depth = this.frames.length;
    this.frames.at(-1)?.push(name);
    const bindings = this.byName.get(name);
    if (bindings) bindings.push({ depth, index });
    else this.byName.set(name, [{ depth, index }]);
  }

  leaveFrame(): void {
    for (const name of this.frames.pop() ?? []) this.byName.get(name)?.pop();
  }

  enterLambda(): void {
    this.closings.push({ depth: this.frames.length, free: new Map() });
  }

  /** Returns the outer variables that the lambda uses. */
  leaveLambda(): readonly Variable[] {
    return [...(this.closings.pop()?.free.values() ?? [])];
  }

  /** Returns undefined when no variable of that name is in scope. */
  find(name: string): Variable | undefined {
    const binding = this.byName.get(name)?.at(-1);
    if (!binding) return undefined;
    const { depth, index } = binding;
    for (let i = this.closings.length - 1; i >= 0; i -= 1) {
      const closing = this.closings[i];
      if (!closing || closing.depth < depth) break;
      closing.free.set(name, { name, up: closing.depth - depth, index });
    }
    return { name, up: this.frames.length - depth, index };
  }
}
