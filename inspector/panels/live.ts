/** Panel with the live queries: how often each ran, and how often its answer changed. */
import type { Diagnostics, LiveRecord, ReadCount } from '../../src/host/diagnostics.ts';
import type { Panel } from '../context.ts';
import { fill, h, hint, table, type Child } from '../dom.ts';
import { formatNumber } from '../format.ts';
import { shownQuery } from '../hide-secrets.ts';

export function livePanel(): Panel {
  const place = h('div', {});
  let before = '';
  const draw = ({ live }: Diagnostics): void => {
    const now = JSON.stringify(live);
    if (now === before) return;
    before = now;
    const rows = live.toSorted((one, other) => other.runs - one.runs).map(liveRow);
    fill(
      place,
      live.length === 0
        ? hint('This page has no live queries.')
        : table('Live queries', ['Query', 'Runs', 'Answers', 'Last run', 'Reads', 'As'], rows),
    );
  };
  const explanation = hint(
    'A live query runs again when a commit touches what it read. Many runs with few answers: it reads more than it shows.',
  );
  return { id: 'live', label: 'Live', node: h('div', {}, explanation, place), draw };
}

const liveRow = ({ query, runs, told, tookMs, reads, actor }: LiveRecord): Child[] => [
  h('code', {}, shownQuery(query)),
  formatNumber(runs),
  formatNumber(told),
  tookMs === undefined ? 'running' : `${formatNumber(Math.round(tookMs * 10) / 10)} ms`,
  [...reads.indexes.map(named('index')), ...reads.collections.map(named('collection'))].join(
    ', ',
  ) || '–',
  actor ?? 'nobody',
];

const named =
  (kind: string) =>
  ({ name, count }: ReadCount): string =>
    `${kind} ${name ?? '(gone)'} (${formatNumber(count)})`;
