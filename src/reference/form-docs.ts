/**
 * What the table of forms cannot say about a form: what it is for, what it gives, and an example. Kept beside the table and
 * not in it, so that no worker carries it; `reference.test.ts` fails for a form without docs and for docs without a form.
 */
import type { FaultCode } from '../errors.ts';

export interface FormDocs {
  /** One sentence, as one would tell a colleague. */
  readonly summary: string;
  /** Type of the result. */
  readonly result: string;
  /** Faults of its own, beside those of the casts: the code, and when. */
  readonly errors?: readonly (readonly [FaultCode, string])[];
  /** A program of builders, or wire JSON for what has no builder. It is run, and its answer printed. */
  readonly example: string;
  /** Who asks, when it is not the admin: a token of the user Ada. */
  readonly as?: 'ada';
  /** Of a form that is no row of the table: `key: type` of each parameter, `;` between them. */
  readonly parameters?: string;
  /** A form of our own: the specification does not list it. */
  readonly isOwn?: true;
}

/** By the wire key that names the form. */
export type FamilyDocs = Readonly<Record<string, FormDocs>>;

export interface Family {
  /** Name of the page. */
  readonly file: string;
  readonly title: string;
  readonly about: string;
  readonly docs: FamilyDocs;
}
