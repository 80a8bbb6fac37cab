/** The type of a request with canaries in it, and expressions that many steps use. */

export interface Canary {
  readonly name: string;
  readonly text: string;
  /** Places that may contain it: hashes, for example, are stored in rows of documents. */
  readonly mayBeIn: readonly string[];
}

/** A request that is ready to be sent. */
export interface Asked {
  readonly name: string;
  /** `query`: by a client. Otherwise over HTTP: POST, GET, or a stream whose first events are read. */
  readonly by: 'query' | 'post' | 'get' | 'stream';
  readonly scheme: 'Bearer' | 'Basic';
  readonly secret: string;
  /** Wire JSON, or text that is sent as if it were. */
  readonly query: string;
  /** Path of the request, if it is not the path of queries. */
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export type Text = (canary: string) => string;

export interface Step {
  readonly name: string;
  /** Name of the canary whose text is the request's secret; `scope` is appended to it. */
  readonly as?: string;
  readonly scope?: string;
  readonly by?: Asked['by'];
  readonly scheme?: Asked['scheme'];
  readonly query?: (text: Text) => unknown;
  /** Text to send in place of `query`, unchanged. */
  readonly raw?: (text: Text) => string;
  readonly path?: (text: Text) => string;
  readonly headers?: (text: Text) => Readonly<Record<string, string>>;
  /** Status of a step that must fail. */
  readonly fails?: number;
  /** New canaries in the response, with their paths in `resource`. */
  readonly brings?: readonly (Omit<Canary, 'text'> & { readonly at: string })[];
  /** Canaries that the response may contain: the caller requested them or has sent them. */
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
