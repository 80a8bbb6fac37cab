/** One request with canaries in it, and the words that many of them use. */

export interface Canary {
  readonly name: string;
  readonly text: string;
  /** Where it belongs: hashes are kept in rows of documents. */
  readonly mayBeIn: readonly string[];
}

/** One request, ready to be sent. */
export interface Asked {
  readonly name: string;
  /** `query`: by a client. The others by HTTP: POST or GET, or as a stream whose first events are read. */
  readonly by: 'query' | 'post' | 'get' | 'stream';
  readonly scheme: 'Bearer' | 'Basic';
  readonly secret: string;
  /** Wire JSON, or what pretends to be. */
  readonly query: string;
  /** Instead of the path of queries. */
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

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
