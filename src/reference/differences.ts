/** Where Burrow answers otherwise than the original did, on purpose. */
export interface Difference {
  readonly area: string;
  readonly here: string;
  readonly original: string;
  readonly why: string;
}

export const DIFFERENCES: readonly Difference[] = [
  {
    area: 'Order of strings',
    here: 'Strings order by code point: in indexes, comparisons, `range`, `max` and `min`.',
    original: 'By the collation of the server’s locale, then by bytes.',
    why: 'An order that depends on where the engine runs and on the age of its Unicode tables would give one database two orders in two browsers, and break indexes when a browser is updated.',
  },
  {
    area: 'Comparing odd sets',
    here: '`range`, `reverse` and `singleton` sets as operands of a comparison give `invalid argument`.',
    original: 'An internal error (500).',
    why: 'The query is at fault, not the server, and should be told.',
  },
  {
    area: 'Bad base64',
    here: 'In `@bytes` it gives `invalid expression`.',
    original: 'An internal error (500).',
    why: 'As above.',
  },
  {
    area: 'Regular expressions',
    here: 'Patterns are matched in linear time. Back-references, looking ahead and behind, possessive and atomic parts, Unicode blocks (`\\p{InGreek}`), `\\X` and `\\N{…}` are refused as not valid. A pattern has at most 1,024 characters, a text 1,048,576.',
    original: 'Java’s engine, which takes exponential time for some patterns.',
    why: 'A pattern must not stop the worker that answers everybody else.',
  },
  {
    area: 'Names of schema objects',
    here: 'Renamed, deleted and re-created names are seen by the next query at once.',
    original: 'Names were cached for some time.',
    why: 'Nobody could have relied on the delay, and programs had to wait for it.',
  },
  {
    area: 'Permissions of indexes, collections, functions',
    here: '`permissions` of a schema object are honoured, so a client key can log in through an index with `permissions: { read: "public" }`.',
    original: 'Later versions dropped them in favour of roles.',
    why: 'Programs written before roles need them, and roles still work.',
  },
  {
    area: 'Names of keys',
    here: 'A key keeps the `name` it is created with and shows it.',
    original: 'Only `data` was kept.',
    why: 'Programs give keys names, and a list of keys without them is of little use.',
  },
  {
    area: 'Times to read at',
    here: '`ts` of `get` and `paginate` may also be a string of digits.',
    original: 'A Time or an Integer.',
    why: 'Clients whose integers end at 2^53 can hand back a cursor they were given.',
  },
  {
    area: 'New indexes',
    here: '`create_index` answers `active: false`; the next query finds the index active when its collections are small, else when it has been built in the background.',
    original: 'The same for large collections; a small index was active in the answer.',
    why: 'An answer that does not depend on how much there is lets a program handle both cases alike.',
  },
  {
    area: 'Entries that are too large',
    here: 'The write that would make one fails with 400 `bad request`.',
    original: 'The entry was left out.',
    why: 'A document that an index silently lacks is found by nobody.',
  },
  {
    area: 'History',
    here: 'Collections keep 30 days unless they say otherwise.',
    original: 'The default was a setting of the server; the hosted service had 30.',
    why: 'It is what programs of the hosted service had.',
  },
  {
    area: 'Passwords',
    here: 'Hashed with bcrypt at cost 10. Over 72 bytes, or with a NUL, they are refused when set, and simply wrong when tried. After 5 failures in a minute, or 50 in an hour, tries for that target are refused for a while (429 `too many requests`).',
    original: 'Bytes after the 72nd were ignored.',
    why: 'Two passwords that differ only after byte 72 would both be right.',
  },
  {
    area: 'Secrets in errors',
    here: 'The error of `key_from_secret` does not repeat the secret.',
    original: 'It did.',
    why: 'Errors end in logs.',
  },
  {
    area: 'Limits of one query',
    here: 'It may read 256 MiB of documents and index entries, its values may take 64 MiB, its answer 64 Mi characters; strings that functions make have at most 16 Mi characters, and `format` widths and precisions end at 1,024.',
    original: 'Bounded by the server’s memory and time.',
    why: 'A tab that runs out of memory is killed without a word.',
  },
  {
    area: 'Experimental names',
    here: 'The forms that existed only with the version header `UNSTABLE` are unknown.',
    original: '22 more names, among them `split_str`, and old names gone.',
    why: 'No driver ever sent that header, and the specification counts them out.',
  },
];
