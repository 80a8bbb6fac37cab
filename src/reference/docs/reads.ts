import type { Family } from '../form-docs.ts';

export const reads: Family = {
  file: 'reads',
  title: 'Reading',
  about:
    'A query reads one snapshot of the database plus its own writes. `ts` reads the snapshot of another time, as far back as history is kept.',
  docs: {
    get: {
      summary: 'The document at a ref, or at the first entry of a set.',
      result: 'Document',
      errors: [
        ['instance not found', 'there is no such document, or the set is empty (HTTP 404)'],
        ['permission denied', 'the caller may not read it'],
      ],
      example: 'Get(Ref(Collection("notes"), "101"))',
    },
    exists: {
      summary:
        'Whether the document exists, or the set has an element, and the caller may read it.',
      result: 'Boolean',
      errors: [['permission denied', 'the caller may not read the set']],
      example: 'Exists(Match(Index("users_by_email"), "nobody@example.org"))',
    },
    key_from_secret: {
      summary: 'The key or token with this secret.',
      result: 'Document',
      errors: [['instance not found', 'there is none, or the caller may not read it (HTTP 400)']],
      example: 'KeyFromSecret("nobody’s secret")',
    },
    paginate: {
      summary:
        'One page of a set, 64 elements by default, with cursors to the next and previous pages. `after` starts at a cursor, `before` ends just before one; `events` returns the history, `sources` adds which set each element comes from.',
      result: 'Page',
      errors: [
        ['invalid argument', 'the cursor does not fit the set'],
        ['permission denied', 'the caller may not read the set'],
      ],
      example: 'Paginate(Match(Index("notes_by_stars")), { size: 2 })',
    },
  },
};
