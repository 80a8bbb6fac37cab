/**
 * Shows that the reference model would see what it is there to see: each fault below is planted into the engine, one line of it
 * replaced, and the model's random queries have to find it within their usual number. So are faults of the hub of devices into what
 * it does with recorded times. A seed may miss one that it seldom meets: then further seeds are tried.
 *
 *   node scripts/planted-faults.mjs [name…]      seeds as for the test: BURROW_MODEL_SEED, BURROW_MODEL_CASES
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));
const CASES = Number(process.env['BURROW_MODEL_CASES'] ?? 4000);
const SEED = Number(process.env['BURROW_MODEL_SEED'] ?? Date.now() % 1_000_000_000);

/** Of one fault, one after the other. */
const SEEDS_MAX = 5;

const MODEL = 'engine/testing/model/play.ts';
const RECORDED_TIMES = 'sync/testing/recorded-times.ts';

/** Name, file, the text that is there (once), what stands in its place, and what is played, if not the model. */
const FAULTS = [
  [
    'union keeps the fewest',
    'engine/sets/operations/union.ts',
    'runs, (a, b) => a > b',
    'runs, (a, b) => a < b',
  ],
  [
    'intersection picks the last of equals',
    'engine/sets/operations/intersection.ts',
    '        (a, b) => a < b,',
    '        (a, b) => a <= b,',
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
    'run.slice(-1)',
    'run.slice(0, 1)',
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
    'lower: request.upper.map(otherSide),',
    'lower: request.lower.map(otherSide),',
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
    'Number(isEnd(b)) - Number(isEnd(a))',
    'Number(isEnd(a)) - Number(isEnd(b))',
  ],
  [
    'events before a time are those at it, too',
    'engine/sets/event-cursors.ts',
    'if (ts !== bound.ts) return ts < bound.ts;',
    'if (ts !== bound.ts) return ts < bound.ts; return true;',
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
    'isAllNull(lone) || isAllNull(loneValues)',
    'isAllNull(loneValues)',
  ],
  [
    'entries without any value',
    'engine/documents/index-entries.ts',
    'isAllNull(lone) || isAllNull(loneValues)',
    'isAllNull(lone)',
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
    'Math.max(isAhead ? request.started : item.now, lastNow)',
    'Math.max(item.now, lastNow)',
    RECORDED_TIMES,
  ],
  [
    'times of a device go back',
    'sync/hub/push/judge-write.ts',
    'Math.max(isAhead ? request.started : item.now, lastNow)',
    'isAhead ? request.started : item.now',
    RECORDED_TIMES,
  ],
  [
    'a contact bounds no time',
    'sync/hub/hello.ts',
    'lastNow: Math.max(before, since),',
    'lastNow: before,',
    RECORDED_TIMES,
  ],
  [
    'a write that a forgotten device may have sent is made again',
    'sync/hub/push/judge-write.ts',
    ': isTooOld(write)',
    ': isTooOld(write) && now < 0',
    RECORDED_TIMES,
  ],
  [
    'the time of a device reaches another role',
    'engine/session/engine-session.ts',
    'context.now === undefined ? context : withOwnInputs(context)',
    'context',
    RECORDED_TIMES,
  ],
];

/** Puts one text in the place of another. */
const planting = (file, from, to) => ({
  name: 'planted-fault',
  load: async (id) => {
    if (resolve(id) !== resolve(SOURCES, file)) return null;
    const source = await readFile(id, 'utf8');
    if (source.split(from).length !== 2)
      throw new Error(`${file} must contain this text exactly once: ${from}`);
    return { code: source.replace(from, () => to), moduleType: 'ts' };
  },
});

async function playWith([name, file, from, to, game = MODEL], folder) {
  const bundle = await rolldown({
    input: join(SOURCES, game),
    platform: 'node',
    plugins: [planting(file, from, to)],
  });
  const out = join(folder, `${name.replaceAll(/\W/g, '-')}.mjs`);
  await bundle.write({ file: out, format: 'es' });
  await bundle.close();
  const { play } = await import(pathToFileURL(out).href);
  return untilMet(play);
}

/** The seed that is asked for, and after it others, until one finds the fault. */
async function untilMet(play) {
  const tally = { values: 0, faults: 0, seeds: 0 };
  for (let seed = SEED; tally.seeds < SEEDS_MAX; seed += 1) {
    const { difference, values, faults } = await play(CASES, seed);
    tally.values += values;
    tally.faults += faults;
    tally.seeds += 1;
    if (difference) return { ...tally, difference };
  }
  return { ...tally, difference: undefined };
}

const asked = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'burrow-faults-'));
const missed = [];
for (const fault of FAULTS) {
  const [name] = fault;
  if (asked.length > 0 && !asked.includes(name)) continue;
  const started = performance.now();
  const { difference, values, faults, seeds } = await playWith(fault, folder);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (!difference) missed.push(name);
  console.log(
    `${difference ? `found after ${values + faults}` : 'MISSED'}: ${name} (${seconds} s, seeds: ${seeds})`,
  );
}
await rm(folder, { recursive: true });
if (missed.length > 0) {
  console.error(
    `Not found within ${CASES} cases of ${SEEDS_MAX} seeds from ${SEED} on: ${missed.join('; ')}.`,
  );
  process.exitCode = 1;
}
