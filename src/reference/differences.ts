/** Where Burrow intentionally answers differently from the original. */
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
    why: 'An order that depends on the host and the version of its Unicode tables would differ between browsers, and a browser update would corrupt indexes.',
  },
  {
    area: 'Order of integers and doubles',
    here: 'An Integer and a Double are compared exactly by `lt`, `lte`, `gt`, `gte`, `max`, `min` and indexes: 2^53 as a Double is less than 2^53 + 1 as an Integer. `equals` compares them as Doubles, so these two are equal.',
    original: 'Compared as Doubles everywhere: neither was less.',
    why: 'As Doubles, both 2^53 and 2^53 + 1 as Integers, of which one is less, would be level with 2^53 as a Double: an index over such an order could not be searched.',
  },
  {
    area: 'Comparing unusual sets',
    here: 'Comparing a `range`, `reverse` or `singleton` set fails with `invalid argument`.',
    original: 'An internal error (500).',
    why: 'The query is wrong, not the server, so the error should say what is wrong with the query.',
  },
  {
    area: 'Invalid base64',
    here: 'Invalid base64 in `@bytes` fails with `invalid expression`.',
    original: 'An internal error (500).',
    why: 'As above.',
  },
  {
    area: 'Regular expressions',
    here: 'Patterns are matched in linear time. Back-references, lookahead and lookbehind, possessive quantifiers, atomic groups, Unicode blocks (`\\p{InGreek}`), the properties of identifiers (`\\p{javaJavaIdentifierStart}`), `\\X` and `\\N{…}` are rejected as invalid. A pattern has at most 1,024 characters, a text at most 1,048,576.',
    original: 'The engine of Java, which takes exponential time for some patterns.',
    why: 'A pattern must not block the worker that answers all other queries.',
  },
  {
    area: 'Last digit of powers, logarithms and angles',
    here: '`pow`, `exp`, `ln`, `log`, `sin`, `cos` and `tan` return the double nearest to the exact result, in every browser and at a hub.',
    original:
      'That of Java’s `Math`, which differs in 0 to 2 of a thousand results, in the last digit.',
    why: 'Java computes them with instructions of the processor. The engines of JavaScript differ from it, and from each other, in up to a tenth of the results. The other functions return exactly what Java does.',
  },
  {
    area: 'Digits of doubles',
    here: 'A Double is written with the fewest digits that read back as the same number, at least two: in answers, by `to_string` and by `format`.',
    original:
      'Java before version 19 wrote more digits for about one double in 300, and for half of the whole numbers above 2^53: 1.0E23 was 9.999999999999999E22, and 4.861982031725347E17 was 4.8619820317253472E17.',
    why: 'Both texts are the same number. JavaScript writes the shorter one, and so do later versions of Java.',
  },
  {
    area: 'Characters beyond U+FFFF',
    here: 'A character such as an emoji is never divided: width and precision of `format` count it as one, an empty pattern does not match inside it, and `replacestr` of the empty text inserts nothing into it.',
    original:
      'Java counted two code units there: a precision could keep half a character, and an empty pattern matched in its middle.',
    why: 'Half a character is no text: the answer shows `?` in its place.',
  },
  {
    area: 'Characters newer than Unicode 13',
    here: 'Letter case, normalization, classes of patterns and names of schema objects know the characters of Unicode 13, in every browser and at a hub. A later character stays as it is, belongs to no class and is not allowed in a name; a letter whose other case came later keeps its own (`UpperCase("ɤ")`). Beside U+0295, U+1734 and U+1171E, a sigma takes the form that Unicode 17 gives it.',
    original: 'The Unicode tables of its version of Java; Java 17 has Unicode 13.',
    why: 'The hosts have versions from 15 to 18. A write made offline in a new browser would have another result at the hub.',
  },
  {
    area: 'Names of schema objects',
    here: 'The next query sees a renamed, deleted or re-created schema object immediately.',
    original: 'Names were cached for a while.',
    why: 'No program could rely on the delay, and programs had to wait for it.',
  },
  {
    area: 'Streams under a renamed collection or index',
    here: 'A stream (`POST /stream`) keeps the names with which it was opened: after a rename of its collection or index it sends no further events. Open it again.',
    original: 'It continued, and its events had the new name.',
    why: 'A stream asks for changes by queries, which contain names.',
  },
  {
    area: 'Permissions of indexes, collections, functions',
    here: '`permissions` of schema objects are applied, so a client key can log in through an index with `permissions: { read: "public" }`.',
    original: 'Later versions replaced them with roles.',
    why: 'Programs written before roles need them. Roles work as well.',
  },
  {
    area: 'Roles that end permissions',
    here: 'A resource that some role names is governed by roles alone, even if the role has no members: its `permissions` and those of its documents no longer apply, and pages of a public index show only documents that the caller may read. The write of the role names these resources in the header `X-Burrow-Notice`; in the page, in the console.',
    original: 'The same since 2.11, without a notice.',
    why: 'Whoever adds the first role would not learn why clients lose access.',
  },
  {
    area: 'Misspelt members of schema objects',
    here: 'A member of a schema object, a token or `credentials` that is nearly a known one (`term`, `historyDays`, `pasword`), and the actions `get`, `update`, `replace` and `remove` of a role, fail with `validation failed`, failure `unknown member`, which names the right one. Other unknown members are dropped.',
    original: 'All unknown members were dropped.',
    why: 'An index without its terms, a role without its action or a user without a password is noticed late, and looks like another mistake.',
  },
  {
    area: 'Login through an index',
    here: '`login` and `identify` with a `match` need the index to be readable, not the document. Of other sets they see only documents that the caller may read.',
    original: 'Documented for unique indexes with `permissions`; not for roles and other sets.',
    why: 'The first element of a combined set, or a lambda over its elements, would reveal hidden documents.',
  },
  {
    area: 'Names of keys',
    here: 'A key stores and returns the `name` it is created with.',
    original: 'Only `data` was stored.',
    why: 'Programs name their keys, and a list of keys without names is of little use.',
  },
  {
    area: 'Documents under an id used before',
    here: 'A document that is created, or inserted, under the id of a deleted or expired one has none of its tokens, and not its password; nor has one that is there again because its deletion was removed.',
    original: 'Tokens and password of the earlier document were valid again.',
    why: 'Whoever may create a document with an id would log in the person who had the id before, with the permissions of the new one.',
  },
  {
    area: 'One’s own document',
    here: 'A token may read the document of its identity, whatever the roles say, at a hub and in the page. `--own-document by-role` of a hub, and `ownDocument: "by role"` of `openDatabase`, leave it to roles.',
    original:
      'The hosted service allowed it, and the test suites of the three drivers log in and then read their own document; the source that was published refuses it.',
    why: 'Programs rely on it. Page and hub agree, so that a program gets the same answer wherever it runs.',
  },
  {
    area: 'Access providers',
    here: 'The root database has access providers too. Tokens for it name the URL of the hub (`--public-url`, else where it listens), or the `audience` that the page was opened with. The `jwks_uri` of a hub that listens on loopback only may be an `http` address on loopback.',
    original:
      'Access providers belonged to databases with a global id; `jwks_uri` was always an `https` address.',
    why: 'A hub of one’s own has no account above its root database, and an identity provider under development has no certificate.',
  },
  {
    area: 'Writes of hidden documents',
    here: 'For a caller who may not read a document, `update`, `replace` and `delete` fail in the same way whether it is there or not: with 403 `permission denied` if a role of the caller has a rule for that action on the collection, else with 404 `instance not found`.',
    original: '403 if it was there, 404 if it was not.',
    why: 'Whoever may not read a document should not learn that it exists. `get` hides it in the same way.',
  },
  {
    area: 'Times to read at',
    here: '`ts` of `get` and `paginate` may also be a string of digits.',
    original: 'A Time or an Integer.',
    why: 'A client whose integers end at 2^53 can send back a cursor without losing digits.',
  },
  {
    area: 'Times seen last',
    here: 'A query is executed at the time of its `X-Last-Seen-Txn` if that is after the present; one that is more than 60 s ahead counts as 60 s ahead.',
    original: 'At any time in the future.',
    why: 'Times of commits never fall: one request with a wrong time would move the clock of the database for all.',
  },
  {
    area: 'New indexes',
    here: '`create_index` answers `active: false`. If its sources name collections, and these are small together, the index is active for the next query; otherwise when it has been built in the background.',
    original:
      'The same for large collections and for several sources; an index of one small source was active in the answer.',
    why: 'The answer does not depend on the amount of data, so a program handles both cases alike.',
  },
  {
    area: 'Entries that are too large',
    here: 'A write that would create an index entry over the limit fails with 400 `bad request`. An index that is made over documents with such values is built without them, and `db.verify()` names them.',
    original: 'The entry was left out, in both cases.',
    why: 'A document that is silently missing from an index cannot be found.',
  },
  {
    area: 'History',
    here: 'Collections keep 30 days of history by default.',
    original: 'The default was a server setting; in the hosted service it was 30 days.',
    why: 'Programs written for the hosted service expect it.',
  },
  {
    area: 'Passwords',
    here: 'Passwords are hashed with bcrypt at cost 10. A password over 72 bytes or with a NUL character cannot be set, and never matches at login. After 5 failures in a minute or 50 in an hour, further attempts for that target are rejected for a while (429 `too many requests`).',
    original: 'Bytes after the 72nd were ignored.',
    why: 'Otherwise two passwords that differ only after byte 72 would both be accepted.',
  },
  {
    area: 'Secrets in errors',
    here: 'The error of `key_from_secret` does not contain the secret.',
    original: 'It contained the secret.',
    why: 'Errors end up in logs.',
  },
  {
    area: 'Tokens of identity providers',
    here: '`key_from_secret` finds nothing for a signed token (JWT): it fails with 400 `instance not found`.',
    original: 'An object with the `database` of the token.',
    why: 'Such a token has no document. `current_token` returns its claims.',
  },
  {
    area: 'Limits of one query',
    here: 'A query may read 256 MiB of documents and index entries, hold 64 MiB of values and answer with 64 Mi characters. A string made by a function has at most 16 Mi characters; `format` widths and precisions are at most 1,024. Each function has a cost that grows with the sizes of its arguments, and reading sets, deciding predicates and writing the answer cost, too: a call over 100 million units of work (about 0.1 s), or a query over 3 billion (about 3 s), fails with `bad request`.',
    original: 'Bounded by the server’s memory and time.',
    why: 'The browser kills a tab that runs out of memory, without any error; and a query must not block the worker that answers all others.',
  },
  {
    area: 'Experimental names',
    here: 'The forms that existed only with the version header `UNSTABLE` are unknown.',
    original: 'It had 22 more names, among them `split_str`, and some old names were removed.',
    why: 'No driver ever sent that header, and the specification excludes them.',
  },
];
