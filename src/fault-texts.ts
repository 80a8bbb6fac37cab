/** Texts of faults that are raised in several places, or that depend on the API version. Spec: functions 3.2. */
import { fault, Refusal, type Fault, type FaultText, type Step } from './errors.ts';

/** API versions before 2.7 call collections classes, and documents instances. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([
  ['collection', 'class'],
  ['Collection', 'Class'],
  ['Collection Ref', 'Class Ref'],
  ['document', 'instance'],
  ['Document', 'Instance'],
]);

const oldName = (name: string): string => OLD_NAMES.get(name) ?? name;

/** Faults are frequent, so a second text is only built if older API versions use another one. */
function worded(text: (one: string, other: string) => string, one: string, other = ''): FaultText {
  const now = text(one, other);
  return OLD_NAMES.has(one) || OLD_NAMES.has(other)
    ? { now, before27: text(oldName(one), oldName(other)) }
    : now;
}

/** @param kind `Collection`, `Document`… */
export const notFound = (kind: string): FaultText => worded((name) => `${name} not found.`, kind);

export const alreadyExists = (kind: string): FaultText =>
  worded((name) => `${name} already exists.`, kind);

/**
 * The place that a fault names when a live query tries to write, in worker and hub alike. A copy replaces it by the name of its own place:
 * `worker/sync/read-at-hub.ts`.
 */
export const LIVE_QUERY_CONTEXT = 'live queries';

export const loginFailed = (position: readonly Step[]): Fault =>
  fault(
    'authentication failed',
    position,
    'The document was not found or provided password was incorrect.',
  );

/** Does not say to the caller what was denied: `host/denied-form.ts` says it to those who run the database. */
export const denied = (position: readonly Step[]): Fault =>
  fault('permission denied', position, 'Insufficient privileges to perform the action.', {
    detail: 'No role of the caller allows it: see the inspector, or the log of the hub.',
  });

export const databaseClosed = (): Refusal =>
  new Refusal('storage_unavailable', 'This database is closed. Open it again.');

/** @param until in microseconds */
export function tooManyPasswords(until: number): Refusal {
  const time = new Date(Math.ceil(until / 1000)).toISOString();
  const text = `Too many wrong passwords. Try again after ${time}.`;
  return Object.assign(new Refusal('too many requests', text), { until });
}

export const NOT_UNIQUE = worded((name) => `${name} is not unique.`, 'document');

export const DATA_NOT_VALID = worded((name) => `${name} data is not valid.`, 'document');

/**
 * @param kind `collection`, `index`…
 * @param name undefined for a stored ref to an object that was deleted since: it holds only an internal number
 */
export const undefinedRef = (kind: string, name: string | undefined): FaultText =>
  worded(
    (named) => `Ref refers to undefined ${named}${name === undefined ? '' : ` '${name}'`}`,
    kind,
  );

/** Both parameters are names of types. */
export const typeExpected = (expected: string, provided: string): FaultText =>
  worded((type, other) => `${type} expected, ${other} provided.`, expected, provided);

export const cannotCast = (provided: string, type: string): FaultText =>
  worded((name) => `Cannot cast ${name} to ${type}.`, provided);

/** For a member of a document that is written. */
export const invalidType = (provided: string, expected: string): FaultText =>
  worded((name, type) => `Invalid type ${name}, expected type ${type}.`, provided, expected);
