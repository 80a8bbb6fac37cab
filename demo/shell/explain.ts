import { QueryError } from '../../src/index.ts';

/** Describes an error in a sentence for the user. */
export function explain(error: unknown): string {
  if (error instanceof QueryError) return SENTENCES[error.code] ?? described(error);
  return error instanceof Error ? sentence(error.message) : String(error);
}

/** Texts for errors whose own description is too short for a user of this app. */
const SENTENCES: Readonly<Record<string, string>> = {
  'authentication failed': 'That e-mail address and password do not match an account.',
  'permission denied': 'You do not have permission for this. Log in, or switch to another account.',
  unauthorized: 'This login is no longer valid. Log in again.',
  quota_exceeded:
    'This device has no storage left for the database. Saved data is not lost. Free some space, then try again.',
};

/** The error's description, followed by the validation failure of each field, if any. */
function described({ description, errors }: QueryError): string {
  const failures = errors.flatMap((error) => error.failures ?? []);
  const details = failures.map((failure) => `${failure.field.join('.')}: ${failure.description}`);
  return [description, ...details].map(sentence).join(' ');
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Whether the database refused because a unique value is taken. */
export const isTaken = (error: unknown): boolean =>
  error instanceof QueryError && error.code === 'instance not unique';
