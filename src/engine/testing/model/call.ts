/** A form that the reference model evaluates: its parts, their positions and their values. */
import type { Part, PartObject } from '../query-text.ts';
import { any, Fault, type Position } from './casts.ts';
import type { Documents, Seen } from './documents.ts';
import {
  isList,
  isMembers,
  Moment,
  Page,
  SetOf,
  Silent,
  type Members,
  type Value,
} from './values.ts';

export interface Scope extends Seen {
  readonly names: ReadonlyMap<string, Value>;
}

/** Evaluates the parts of a form. */
export interface Evaluator {
  readonly documents: Documents;
  one(part: Part, scope: Scope, at: Position): Value;
  /** Evaluates all parts. The first fault is thrown. */
  all(parts: readonly Part[], scope: Scope, at: Position, keys?: readonly string[]): Value[];
}

export type Form = (call: Call) => Value;

/** A form being evaluated. */
export class Call {
  readonly model: Evaluator;
  readonly part: PartObject;
  readonly scope: Scope;
  readonly at: Position;

  constructor(model: Evaluator, part: PartObject, scope: Scope, at: Position) {
    this.model = model;
    this.part = part;
    this.scope = scope;
    this.at = at;
  }

  has(key: string): boolean {
    return this.part.members.some(([name]) => name === key);
  }

  raw(key: string): Part {
    return memberOf(this.part, key);
  }

  path(...steps: Position): Position {
    return [...this.at, ...steps];
  }

  value(key: string): Value {
    return this.model.one(this.raw(key), this.scope, this.path(key));
  }

  /** Evaluates the arguments from last to first. If several fail, the fault of the first is thrown. */
  arguments<T extends Readonly<Record<string, (value: Value, position: Position) => unknown>>>(
    casts: T,
  ): { readonly [K in keyof T]: ReturnType<T[K]> } {
    let fault: Fault | undefined;
    const values: Record<string, unknown> = {};
    for (const [key, each] of Object.entries(casts).toReversed()) {
      if (!this.has(key)) continue;
      try {
        values[key] = each(this.value(key), this.path(key));
      } catch (reason) {
        if (!(reason instanceof Fault)) throw reason;
        fault = reason;
      }
    }
    if (fault) throw fault;
    return values as { readonly [K in keyof T]: ReturnType<T[K]> };
  }

  /** Applies the lambda under `key`. */
  apply(key: string, argument: Value): Value {
    const lambda = this.raw(key) as PartObject;
    const pattern = memberOf(lambda, 'lambda') as string | readonly string[];
    const names = typeof pattern === 'string' ? [pattern] : pattern;
    const values =
      typeof pattern === 'string' ? [argument] : isList(argument) ? argument : [argument];
    if (names.length !== values.length)
      throw new Fault('invalid argument', this.path(key, 'lambda'));
    const bound = names.map((name, i) => [name, values[i] ?? null] as const);
    const scope = { ...this.scope, names: new Map([...this.scope.names, ...bound]) };
    return this.model.one(memberOf(lambda, 'expr'), scope, this.path(key, 'expr'));
  }

  /** The same form, reading at `time`. */
  seenAt(time: number): Call {
    return new Call(this.model, this.part, { ...this.scope, time }, this.at);
  }

  iterable(key: string): SetOf | readonly Value[] {
    const found = this.arguments({ [key]: any })[key] ?? null;
    if (found instanceof SetOf || isList(found)) return found;
    if (found instanceof Page) throw new Silent('pages turned round');
    throw new Fault('invalid argument', this.path(key));
  }

  /** Fails a write inside a past `at`, at the position of the form or of its verb. */
  refusePast(...verb: Position): void {
    if (this.scope.isPast) throw new Fault('invalid write time', this.path(...verb));
  }

  dataOf(params: Members | undefined): Members {
    const data = params?.get('data') ?? new Map<string, Value>();
    if (isMembers(data)) return data;
    throw new Silent('data that is no object');
  }

  ttlOf(params: Members | undefined): Moment | undefined {
    const ttl = params?.get('ttl') ?? undefined;
    if (ttl === undefined || ttl instanceof Moment) return ttl;
    throw new Silent('a ttl that is no time');
  }
}

export const memberOf = (part: PartObject, key: string): Part =>
  part.members.find(([name]) => name === key)?.[1] ?? null;

export const textIn = (part: Part): string => {
  if (typeof part === 'string') return part;
  throw new Silent('a name that is no text');
};
