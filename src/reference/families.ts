import { arrays } from './docs/arrays.ts';
import { control } from './docs/control.ts';
import { identity } from './docs/identity.ts';
import { numbers } from './docs/numbers.ts';
import { objects } from './docs/objects.ts';
import { reads } from './docs/reads.ts';
import { refs } from './docs/refs.ts';
import { selecting } from './docs/selecting.ts';
import { sets } from './docs/sets.ts';
import { strings } from './docs/strings.ts';
import { time } from './docs/time.ts';
import { types } from './docs/types.ts';
import { writes } from './docs/writes.ts';
import type { Family } from './form-docs.ts';

/** The pages of the reference, in order. */
export const FAMILIES: readonly Family[] = [
  control,
  selecting,
  arrays,
  objects,
  strings,
  numbers,
  time,
  types,
  refs,
  sets,
  reads,
  writes,
  identity,
];

export const isOwnForm = (name: string): boolean =>
  FAMILIES.some(({ docs }) => docs[name]?.isOwn === true);
