/** Variables in reach while a query is parsed: each use is turned into a frame and an index. */
import type { Variable } from './node.ts';

interface Binding {
  readonly depth: number;
  readonly index: number;
}

/** One lambda being parsed: what it uses from outside. */
interface Closing {
  readonly depth: number;
  readonly free: Map<string, Variable>;
}

export class Scopes {
  private readonly byName = new Map<string, Binding[]>();
  private readonly closings: Closing[] = [];
  private depth = 0;

  /** Parses `body` one frame deeper; names bound in it are forgotten after. */
  frame<T>(body: (bind: (name: string, index: number) => void) => T): T {
    const names: string[] = [];
    this.depth += 1;
    const depth = this.depth;
    try {
      return body((name, index) => {
        names.push(name);
        const bindings = this.byName.get(name);
        if (bindings) bindings.push({ depth, index });
        else this.byName.set(name, [{ depth, index }]);
      });
    } finally {
      this.depth -= 1;
      for (const name of names) this.byName.get(name)?.pop();
    }
  }

  /** Parses a lambda with `body`; `free` are the outer variables it uses. */
  lambda<T>(body: () => T): { readonly result: T; readonly free: readonly Variable[] } {
    const closing: Closing = { depth: this.depth, free: new Map() };
    this.closings.push(closing);
    try {
      const result = body();
      return { result, free: [...closing.free.values()] };
    } finally {
      this.closings.pop();
    }
  }

  /** Undefined when nothing of that name is in reach. */
  find(name: string): Variable | undefined {
    const binding = this.byName.get(name)?.at(-1);
    if (!binding) return undefined;
    const { depth, index } = binding;
    for (let i = this.closings.length - 1; i >= 0; i -= 1) {
      const closing = this.closings[i];
      if (!closing || closing.depth < depth) break;
      closing.free.set(name, { name, up: closing.depth - depth, index });
    }
    return { name, up: this.depth - depth, index };
  }
}
