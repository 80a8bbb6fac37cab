/** Made by `npm run docs` of src/engine/sets/operations. */
import type { SetOp } from '../../values/set-table.ts';
import type { SetOf } from '../../values/value.ts';
import type { SetOperation } from './operation.ts';
import { difference } from './operations/difference.ts';
import { distinct } from './operations/distinct.ts';
import { documents } from './operations/documents.ts';
import { events } from './operations/events.ts';
import { filter } from './operations/filter.ts';
import { intersection } from './operations/intersection.ts';
import { join } from './operations/join.ts';
import { match } from './operations/match.ts';
import { range } from './operations/range.ts';
import { reverse } from './operations/reverse.ts';
import { singleton } from './operations/singleton.ts';
import { union } from './operations/union.ts';

export const OPERATIONS: { readonly [Op in SetOp]: SetOperation<SetOf<Op>> } = {
  difference,
  distinct,
  documents,
  events,
  filter,
  intersection,
  join,
  match,
  range,
  reverse,
  singleton,
  union,
};
