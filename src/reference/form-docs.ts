/**
 * What the table of forms does not say about a form: its purpose, its result and an example. It is separate from the
 * table, so that no worker contains it. `reference.test.ts` fails for a form without docs, and for docs without a form.
 */
import type { FaultCode } from '../errors.ts';

export interface FormDocs {
  /** One sentence, in plain words. */
  readonly summary: string;
  /** Type of the result. */
  readonly result: string;
  /** Faults in addition to those of the casts: the code, and when it occurs. */
  readonly errors?: readonly (readonly [FaultCode, string])[];
  /** A program of builders, or wire JSON for a form without a builder. It is executed, and its answer is printed. */
  readonly example: string;
  /** The caller, if it is not the admin: a token of the user Ada. */
  readonly as?: 'ada';
  /** Only for a form that is not in the table: `key: type` of each parameter, separated by `;`. */
  readonly parameters?: string;
  /** A form that only Burrow has: the specification does not list it. */
  readonly isOwn?: true;
}

/** Docs by the wire key that names the form. */
export type FamilyDocs = Readonly<Record<string, FormDocs>>;

export interface Family {
  /** File name of the page. */
  readonly file: string;
  readonly title: string;
  readonly about: string;
  readonly docs: FamilyDocs;
}
