/** One request with canaries in it, and the words that many of them use. */
import type { Asked, Canary } from './canary.ts';

export type Text = (canary: string) => string;

export interface Step {
  readonly name: string;
  /** Whose secret is shown, and what follows it. */
  readonly as?: string;
  readonly scope?: string;
  readonly by?: Asked['by'];
  readonly scheme?: Asked['scheme'];
  readonly query?: (text: Text) => unknown;
  /** Instead: what is sent as it is. */
  readonly raw?: (text: Text) => string;
  readonly path?: (text: Text) => string;
  readonly headers?: (text: Text) => Readonly<Record<string, string>>;
  /** The status of a step that is meant to fail. */
  readonly fails?: number;
  /** Canaries that the answer brings, and where in `resource` they stand. */
  readonly brings?: readonly (Omit<Canary, 'text'> & { readonly at: string })[];
  /** Canaries that belong into the answer: the caller asked for them, or has just said them. */
  readonly answers?: readonly string[];
}

export const obj = (members: Record<string, unknown>): unknown => ({ object: members });
export const doc = (collection: string, id: string): unknown => ({ ref: { collection }, id });
export const alice = doc('users', '1');
export const byEmail = { match: { index: 'users_by_email' }, terms: 'alice@example.org' };
export const login = (user: unknown, password: string): unknown => ({
  login: user,
  params: obj({ password }),
});
export const kept = ['documents'];
export const secretAndHash = (of: string) => [
  { name: `secret of ${of}`, at: 'secret', mayBeIn: [] },
  { name: `hash of ${of}`, at: 'hashed_secret', mayBeIn: kept },
];
export const credentialsOf = (user: unknown): unknown => ({
  select: 'ref',
  from: { get: { match: { index: 'credentials_by_user' }, terms: user } },
});
