/** The types that forms of the reference model accept, and the faults for other values. */
import { DocRef, Dbl, isList, isMembers, Page, SetOf, Silent, type Value } from './values.ts';

export type Position = readonly (string | number)[];

export class Fault {
  readonly code: string;
  readonly position: Position;
  constructor(code: string, position: Position) {
    this.code = code;
    this.position = position;
  }
}

export type Cast<T extends Value = Value> = (value: Value, position: Position) => T;

export const cast =
  <T extends Value>(is: (value: Value) => value is T): Cast<T> =>
  (value, position) => {
    if (is(value)) return value;
    throw new Fault('invalid argument', position);
  };
const isNumber = (value: Value): value is bigint | Dbl =>
  typeof value === 'bigint' || value instanceof Dbl;
export const integer = cast((value): value is bigint => typeof value === 'bigint');
export const boolean = cast((value): value is boolean => typeof value === 'boolean');
export const string = cast((value): value is string => typeof value === 'string');
export const members = cast(isMembers);
export const ref = cast((value): value is DocRef => value instanceof DocRef);
export const newRef: Cast<DocRef> = (value, position) => {
  if (typeof value === 'string') throw new Silent('collections by name');
  return ref(value, position);
};
export const refOrSet = cast(
  (value): value is DocRef | SetOf => value instanceof DocRef || value instanceof SetOf,
);
export const set: Cast<SetOf> = (value, position) => {
  if (value instanceof SetOf) return value;
  if (isList(value)) throw new Silent('algebra of arrays');
  throw new Fault('invalid argument', position);
};
export const listOrPage = cast(
  (value): value is readonly Value[] | Page => isList(value) || value instanceof Page,
);
export const any: Cast = (value) => value;

/** Casts one value, or all elements of an array, which must not be empty. If several are wrong, the fault of the first is thrown. */
export const some =
  <T extends Value>(one: Cast<T>) =>
  (value: Value, position: Position): readonly T[] => {
    if (!isList(value)) return [one(value, position)];
    if (value.length === 0) throw new Fault('invalid argument', position);
    return value.map((each, i) => one(each, [...position, i]));
  };

export const number = cast(isNumber);
