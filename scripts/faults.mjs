// Faults that `planted-faults.mjs` plants and the reference model must find.
import { fileURLToPath } from 'node:url';

export const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));

export const MODEL = 'engine/testing/model/play.ts';
const RECORDED_TIMES = 'sync/testing/recorded-times.ts';

/** Name, file, text to replace (which occurs once), replacement, and optionally the test to run instead of the model. */
export const FAULTS = [
  ['union keeps the fewest', 'engine/sets/operations/union.ts', 'length > best', 'length < best'],
  [
    'intersection picks the last of equals',
    'engine/sets/operations/intersection.ts',
    'length < best',
    'length <= best',
  ],
  [
    'difference wants every other',
    'engine/sets/operations/difference.ts',
    '!others.some(',
    '!others.every(',
  ],
  [
    'distinct keeps the last, backwards',
    'engine/sets/operations/distinct.ts',
    'request.backward ? [-1] : [0, 1]',
    'request.backward ? [0, 1] : [0, 1]',
  ],
  [
    'after a ref means beyond it',
    'engine/sets/cursors.ts',
    "ref: last, side: 'low'",
    "ref: last, side: 'high'",
  ],
  [
    'before always shows a cursor',
    'engine/sets/pages.ts',
    'next && first && cursorOf(first, next)',
    'first && cursorOf(first, next)',
  ],
  [
    'before gives the first of the set',
    'engine/sets/pages.ts',
    'if (isBackward) tuples.reverse();',
    '',
  ],
  [
    'after names the last shown',
    'engine/sets/pages.ts',
    'const next = found[size];',
    'const next = found[size - 1];',
  ],
  [
    'size 0 shows one cursor',
    'engine/sets/pages.ts',
    'const isBoth = size === 0;',
    'const isBoth = false;',
  ],
  [
    'at a time is before it: documents',
    'engine/documents/documents.ts',
    'versionIn(current).ts <= time',
    'versionIn(current).ts < time',
  ],
  [
    'at a time is before it: history',
    'engine/documents/documents.ts',
    'newestBefore(reader, ref, time + 1)',
    'newestBefore(reader, ref, time)',
  ],
  [
    'at a time is before it: entries',
    'engine/sets/operations/match.ts',
    'addedAt(found) <= past',
    'addedAt(found) < past',
  ],
  [
    'at the end of an entry it holds',
    'engine/sets/operations/match.ts',
    'added <= past && past < removed',
    'added <= past && past <= removed',
  ],
  [
    'at a time is before it: collections',
    'engine/sets/collection-scan.ts',
    'version.ts > past',
    'version.ts >= past',
  ],
  [
    'cursors forget reversed values',
    'engine/sets/match-entries.ts',
    'valuesPrefix(this.prefix, given, reverse)',
    'valuesPrefix(this.prefix, given, [])',
  ],
  [
    'cuts of derived sets forget them',
    'engine/sets/tuple.ts',
    'reversed[i] ? encodeReversed(component)',
    'reversed[i] ? component',
  ],
  [
    'ttl counts after its time',
    'engine/documents/documents.ts',
    'ttl !== undefined && ttl <= snapshot',
    'ttl !== undefined && ttl < snapshot',
  ],
  [
    'ttl of entries counts after its time',
    'engine/documents/retained.ts',
    'ttl !== undefined && ttl <= time',
    'ttl !== undefined && ttl < time',
  ],
  [
    'turned sets forget that their refs are',
    'engine/sets/tuple.ts',
    'reversed ? encodeReversed(bound.tiebreaker) : bound.tiebreaker',
    'bound.tiebreaker',
  ],
  ['ranges end before their end', 'engine/sets/operations/range.ts', 'boundAfter(to', 'boundOf(to'],
  [
    'ranges of turned sets begin at their end',
    'engine/sets/operations/reverse.ts',
    'lower: request.upper.map(turned),',
    'lower: request.lower.map(turned),',
  ],
  [
    'joins give a value as often as it is there',
    'engine/sets/operations/join.ts',
    'return runs && [oneOf(runs, request)];',
    'return runs && runs.flat();',
  ],
  [
    'joins lead from the first element only',
    'engine/sets/operations/join.ts',
    'return [...elements.values()];',
    'return [...elements.values()].slice(0, 1);',
  ],
  [
    'what comes goes before what goes',
    'engine/sets/changes.ts',
    'Number(!isEnd({ action }))',
    'Number(isEnd({ action }))',
  ],
  [
    'events before a time are those at it, too',
    'engine/sets/event-cursors.ts',
    'compareValues(place, bound) < 0',
    'compareValues(place.slice(0, 1), bound.slice(0, 1)) <= 0',
  ],
  [
    'events of a combined set are those of all members',
    'engine/sets/changes.ts',
    'for (const tuple of missing(shown, now))',
    'for (const tuple of missing(now, shown))',
  ],
  [
    'filters let the first of a batch pass',
    'engine/sets/filtered.ts',
    'batch.filter((_, i) => accepted[i])',
    'batch.filter((_, i) => accepted[i] || i === 0)',
  ],
  [
    'entries without any term',
    'engine/documents/index-entries.ts',
    'isAllNull(terms) || isAllNull(values)',
    'isAllNull(values)',
  ],
  [
    'entries without any value',
    'engine/documents/index-entries.ts',
    'isAllNull(terms) || isAllNull(values)',
    'isAllNull(terms)',
  ],
  [
    'update keeps nulls',
    'values/object-changes.ts',
    'if (value === null) patched.delete(name);',
    'if (value === null) patched.set(name, null);',
  ],
  [
    'what was deleted is still there for the query',
    'engine/documents/write-version.ts',
    "writer.delete('documents', key);",
    '',
  ],
  [
    'let binds the outermost',
    'query/scopes.ts',
    'this.byName.get(name)?.at(-1)',
    'this.byName.get(name)?.at(0)',
  ],
  [
    'lambdas take longer arrays',
    'query/frame.ts',
    'argument.length === pattern.length',
    'argument.length >= pattern.length',
  ],
  [
    'elements are told one too late',
    'query/casts.ts',
    'elementAt(where, index));',
    'elementAt(where, index + 1));',
  ],
  [
    'operands of and and or, too',
    'query/evaluate.ts',
    'key: kind, steps: [index] }',
    'key: kind, steps: [index + 1] }',
  ],
  [
    'reduce folds from the right',
    'query/evaluate.ts',
    'const pair = [result as Value, element];',
    'const pair = [element, result as Value];',
  ],
  [
    'a device is believed that it is far ahead',
    'sync/hub/push/judge-write.ts',
    'Math.max(isAhead ? arrived : item.now, lastNow)',
    'Math.max(item.now, lastNow)',
    RECORDED_TIMES,
  ],
  [
    'times of a device go back',
    'sync/hub/push/judge-write.ts',
    'Math.max(isAhead ? arrived : item.now, lastNow)',
    'isAhead ? arrived : item.now',
    RECORDED_TIMES,
  ],
  [
    'a contact bounds no time',
    'sync/hub/hello.ts',
    'lastNow: Math.max(lastNow, writesSince),',
    'lastNow,',
    RECORDED_TIMES,
  ],
  [
    'a write that a forgotten device may have sent is made again',
    'sync/hub/push/judge-write.ts',
    'const isOld = isTooOld(write);',
    'const isOld = isTooOld(write) && now < 0;',
    RECORDED_TIMES,
  ],
  [
    'the time of a device reaches another role',
    'engine/session/engine-session.ts',
    'context.now !== undefined ? withOwnInputs(context) : context',
    'context.now !== undefined ? context : context',
    RECORDED_TIMES,
  ],
];
