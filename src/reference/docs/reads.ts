import type { Family } from '../form-docs.ts';

export const reads: Family = {
  file: 'reads',
  title: 'Reading',
  about:
    'One query sees one moment of the database, and what it has written itself. `ts` reads as of another time within the history that is kept.',
  docs: {
    get: {
      summary: 'The document behind a ref, or behind the first entry of a set.',
      result: 'Document',
      errors: [
        ['instance not found', 'there is no such document, or the set is empty (HTTP 404)'],
        ['permission denied', 'it may not be read'],
      ],
      example: 'Get(Ref(Collection("notes"), "101"))',
    },
    exists: {
      summary: 'Whether a document, or an element of a set, is there and may be read.',
      result: 'Boolean',
      errors: [['permission denied', 'the set may not be read']],
      example: 'Exists(Match(Index("users_by_email"), "nobody@example.org"))',
    },
    key_from_secret: {
      summary: 'The key or token that a secret belongs to.',
      result: 'Document',
      errors: [['instance not found', 'there is none, or it may not be read (HTTP 400)']],
      example: 'KeyFromSecret("nobody’s secret")',
    },
    paginate: {
      summary:
        'A part of a set, 64 elements unless said, with the cursors of the parts around it. `after` begins at a cursor, `before` ends before one; `events` shows the history, `sources` from which set each element comes.',
      result: 'Page',
      errors: [
        ['invalid argument', 'the cursor does not fit the set'],
        ['permission denied', 'the set may not be read'],
      ],
      example: 'Paginate(Match(Index("notes_by_stars")), { size: 2 })',
    },
  },
};
