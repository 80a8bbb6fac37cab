import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Key } from '../../codec/key.ts';
import type { EntrySpace } from '../../store/port.ts';
import { Ref } from '../../values/value.ts';
import { buildStep, buildSynchronously } from './index-build.ts';
import { elementsOf, pageOf } from '../testing/paging.ts';
import { DATABASE, documentRef, field, match, SetWorld } from '../testing/set-world.ts';

type Step = { readonly id: number; readonly v: number | 'gone' };
const stepsOf = fc.array(
  fc.record({ id: fc.nat(5), v: fc.oneof(fc.nat(3), fc.constant('gone' as const)) }),
  { maxLength: 20 },
);

function apply(world: SetWorld, collection: Ref, { id, v }: Step): void {
  const ref = documentRef(collection, id);
  const isThere = pageOf(world, ref).data.length > 0;
  if (v !== 'gone') world.put(collection, id, { v, w: [v, 9] });
  else if (isThere) world.remove(ref);
}

const PARTS = { terms: [field('w')], values: [field('v', { reverse: true })] };

/** The entries of all rows. Their order within a row has no meaning. */
function entriesOf(world: SetWorld, space: EntrySpace): string[] {
  const range = { space, by: 'entry', reverse: false, limit: 100_000, rows: true } as const;
  const lower = '' as Key;
  const upper = '\xff' as Key;
  return world.base.range({ ...range, lower, upper }).map(({ entry, key }) => `${entry} ${key}`);
}

function build(world: SetWorld, index: Ref): void {
  let from: Key | undefined;
  do {
    const start = from;
    from = world.commit(world.now + 1, (context) => buildStep(context, index, start)).next;
  } while (from !== undefined);
}

test('an index built later gives the same answers as one that existed from the start, now and in the past', () => {
  fc.assert(
    fc.property(stepsOf, stepsOf, (before, during) => {
      const [early, late] = [new SetWorld(), new SetWorld()];
      const times: number[] = [];
      const [first, second] = [early, late].map((world) => {
        const collection = world.collection('things');
        if (world === late) world.now += 1;
        else world.index('i', collection, PARTS);
        for (const step of before) {
          apply(world, collection, step);
          times.push(world.now);
        }
        const index =
          world === late
            ? world.index('i', collection, { ...PARTS, active: false })
            : new Ref(DATABASE, 3, 32_769n);
        world.now = Math.max(world.now, 1_000_100);
        for (const step of during) {
          apply(world, collection, step);
          times.push(world.now);
        }
        return { world, index };
      });
      if (!first || !second) throw new Error('two worlds were made');
      build(late, second.index);
      for (const time of [...times, 'present' as const]) {
        for (const term of [0, 1, 2, 3, 9]) {
          expect(elementsOf(late, match(second.index, term), time)).toEqual(
            elementsOf(early, match(first.index, term), time),
          );
        }
      }
      const events = (world: SetWorld, index: Ref) =>
        pageOf(world, match(index, 9), { events: true, size: 1000 }).data;
      expect(events(late, second.index)).toEqual(events(early, first.index));
    }),
    { numRuns: 60 },
  );
});

test('buildStep() activates the index in its last step, and changes nothing when run again', () => {
  const world = new SetWorld();
  const things = world.collection('things');
  for (let id = 0; id < 600; id++) world.put(things, id, { v: id, w: id % 7 });
  for (let id = 0; id < 600; id += 3) world.put(things, id, { v: id + 1, w: id % 7 });
  const index = world.index('i', things, { ...PARTS, active: false });
  const isActive = () => world.read((context) => context.schema(DATABASE).index(index)?.active);
  const seen: number[] = [];
  let from: Key | undefined;
  do {
    expect(isActive()).toBe(false);
    const start = from;
    const step = world.commit(world.now + 1, (context) => buildStep(context, index, start));
    seen.push(step.documents);
    from = step.next;
  } while (from !== undefined);
  expect(seen).toEqual([256, 256, 88]);
  expect(isActive()).toBe(true);
  expect(elementsOf(world, match(index, 0))).toHaveLength(86);
  const entries = [entriesOf(world, 'documents'), entriesOf(world, 'history')];
  expect(world.commit(world.now + 1, (context) => buildStep(context, index, undefined))).toEqual({
    next: undefined,
    documents: 0,
    bytes: 0,
  });
  expect([entriesOf(world, 'documents'), entriesOf(world, 'history')]).toEqual(entries);
});

test('buildSynchronously() builds an index of a small collection, and leaves larger and wildcard sources for later', () => {
  const makeWorld = (count: number, active: boolean, source?: '_') => {
    const world = new SetWorld();
    const things = world.collection('things');
    for (let id = 0; id < count; id++) world.put(things, id, { v: 1, w: 1 });
    const index = world.index('i', things, { ...PARTS, active, ...(source ? { source } : {}) });
    const built = world.commit(world.now + 1, (context) => {
      const definition = context.schema(DATABASE).index(index);
      if (!definition) throw new Error('the index was made');
      return buildSynchronously(context, definition);
    });
    const made = world.read((context) => context.schema(DATABASE).index(index));
    return [built, made?.active, made?.isBuilding, elementsOf(world, match(index, 1)).length];
  };
  expect(makeWorld(128, false)).toEqual([true, true, false, 128]);
  expect(makeWorld(129, false)).toEqual([false, false, true, 0]);
  expect(makeWorld(129, true)).toEqual([false, true, true, 0]);
  expect(makeWorld(1, false, '_')).toEqual([false, false, true, 0]);
});
