/** Reads whole sets page by page, as callers do. */
import { expect } from 'vitest';
import type { PageOptions, ReadTime } from '../../query/session.ts';
import type { Page, Ref, SetValue, Value } from '../../values/value.ts';
import { elements, paginate } from '../sets/pages.ts';
import type { SetWorld } from './set-world.ts';

const OPTIONS: PageOptions = {
  size: 64,
  time: 'present',
  cursor: undefined,
  events: false,
  sources: false,
};

export const pageOf = (
  world: SetWorld,
  set: SetValue | Ref,
  options: Partial<PageOptions> = {},
): Page => world.read((context) => paginate(context, set, { ...OPTIONS, ...options }, undefined));

export const cursorAt = (side: 'before' | 'after', value: Value): Partial<PageOptions> => ({
  cursor: { side, value, steps: [side] },
});

/** Elements of all pages, read forwards. */
export function readForwards(world: SetWorld, set: SetValue | Ref, size: number): Value[] {
  const found: Value[] = [];
  let page = pageOf(world, set, { size });
  for (;;) {
    expect(page.data.length).toBeLessThanOrEqual(size);
    found.push(...page.data);
    if (page.after === undefined) return found;
    expect(page.data.length).toBe(size);
    page = pageOf(world, set, { size, ...cursorAt('after', page.after) });
  }
}

/** Elements of all pages, read from the end. */
export function readBackwards(
  world: SetWorld,
  set: SetValue | Ref,
  size: number,
  last: Value,
): Value[] {
  const found: Value[] = [];
  let page = pageOf(world, set, { size, ...cursorAt('before', last) });
  for (;;) {
    found.unshift(...page.data);
    if (page.before === undefined) return found;
    expect(page.data.length).toBe(size);
    page = pageOf(world, set, { size, ...cursorAt('before', page.before) });
  }
}

/** A cursor after all tuples. */
export const endOf = (reversed: readonly boolean[]): readonly Value[] => [
  ...reversed.map((each) => (each ? -Infinity : null)),
  null,
];

export const elementsOf = (
  world: SetWorld,
  set: SetValue | Ref,
  time: ReadTime = 'present',
): readonly Value[] =>
  world.read((context) => [...elements(context, set, time, undefined, 'count')]);
