/** A small world: a few boats, indexed by their port. */
import { documentRef, field, SetWorld } from './set-world.ts';

/** Indexes of boats by port: one ordered by length, and others. */
export function harbour() {
  const world = new SetWorld();
  const boats = world.collection('boats');
  const terms = [field('port')];
  const lens = world.index('lens', boats, { terms, values: [field('len')] });
  const plain = world.index('plain', boats, { terms });
  const desc = world.index('desc', boats, {
    terms,
    values: [field('len', { reverse: true }), field('name')],
  });
  [
    [1, 12, 'Alk'],
    [2, 7, 'Brett'],
    [3, 30, 'Cod'],
    [5, 7, 'Eider'],
  ].forEach(([id, len, name]) =>
    world.put(boats, Number(id), { port: 'oslo', len: len ?? 0, name: name ?? '' }),
  );
  const boat = (id: number) => documentRef(boats, id);
  return { world, boats, boat, lens, plain, desc };
}
