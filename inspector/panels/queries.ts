/** Panel with the executed queries: what they cost, what they read, and which index would help. */
import type { Diagnostics, QueryRecord } from '../../src/host/diagnostics.ts';
import { deniedForm } from '../../src/host/denied-form.ts';
import { adviseOn, isSlow, readsOf, type Advice } from '../advice.ts';
import type { Context, Panel } from '../context.ts';
import { button, code, facts, fill, h, hasFocus, hint, select, type Child } from '../dom.ts';
import { counted, formatNumber, formatTime } from '../format.ts';
import { shownQuery } from '../hide-secrets.ts';
import { metricsList } from '../metrics.ts';
import { NO_SCHEMA } from '../schema.ts';

const SHOWN_MAX = 200;

const FILTERS = {
  all: { label: 'All, newest first', has: () => true },
  slow: { label: 'Slow, the worst first', has: isSlow },
  failed: { label: 'Failed', has: ({ status }: QueryRecord) => status >= 400 },
} as const;
type Filter = keyof typeof FILTERS;
const isFilter = (name: string): name is Filter => Object.hasOwn(FILTERS, name);

export function queriesPanel(context: Context): Panel {
  const list = h('ul', { class: 'records', 'aria-label': 'Queries' });
  const notes = h('p', { class: 'hint' });
  const items = new Map<number, HTMLElement>();
  let records: readonly QueryRecord[] = [];
  const filter = select('queries-filter', FILTERS, () => drawList());
  const drawList = (): void => {
    const name = isFilter(filter.value) ? filter.value : 'all';
    const found = records.filter((each) => FILTERS[name].has(each)).toReversed();
    if (name === 'slow') found.sort((one, other) => costOf(other) - costOf(one));
    const shown = found.slice(0, SHOWN_MAX);
    for (const record of shown)
      if (!items.has(record.number)) items.set(record.number, item(context, record));
    fill(
      list,
      ...shown.map(({ number }) => items.get(number)),
      shown.length === 0 && h('li', { class: 'hint' }, 'None.'),
    );
  };
  const draw = ({ queries, isLogged, dropped }: Diagnostics): void => {
    fill(
      notes,
      isLogged
        ? 'Queries of the last ten minutes, from the query log, and new ones.'
        : 'Queries since the inspector was opened. Earlier ones need the option log: { enabled: true }.',
      dropped > 0 && ` ${counted(dropped, 'older query is', 'older queries are')} not kept.`,
    );
    if (queries.length === 0 && records.length > 0) return;
    records = [...records, ...queries].slice(-1000);
    if (!hasFocus(list)) drawList();
  };
  const node = h(
    'div',
    {},
    h(
      'div',
      { class: 'buttons' },
      h('label', { for: 'queries-filter' }, 'Show'),
      filter,
      button('Refresh', drawList),
    ),
    notes,
    list,
  );
  drawList();
  return { id: 'queries', label: 'Queries', node, show: drawList, draw };
}

/** Combines time and reads, because reads do not depend on the speed of the machine. */
function costOf(record: QueryRecord): number {
  const { documents, entries } = readsOf(record);
  return record.metrics.queryTime + (documents + entries) / 100;
}

function item(context: Context, record: QueryRecord): HTMLElement {
  const { metrics, status, errorCode, tsMicros } = record;
  const { documents, entries } = readsOf(record);
  const details = h('div', { class: 'detail' });
  const summary = [
    `${formatTime(tsMicros)} · ${formatNumber(metrics.queryTime)} ms`,
    // Which data was read is not known for a query that ran before the inspector was opened.
    record.reads
      ? `${counted(documents, 'document')}, ${counted(entries, 'entry', 'entries')}`
      : counted(metrics.readOps, 'read'),
    metrics.writeOps > 0 && counted(metrics.writeOps, 'write'),
  ].filter(Boolean);
  const node = h(
    'details',
    {
      on: {
        toggle: () => {
          if (node.open && details.childElementCount === 0)
            void showDetails(context, details, record);
        },
      },
    },
    h(
      'summary',
      {},
      isSlow(record) && h('span', { class: 'tag warn' }, 'slow'),
      status >= 400 && h('span', { class: 'tag bad' }, errorCode ?? String(status)),
      h('span', {}, summary.join(' · ')),
      h('code', { class: 'line' }, shownQuery(record.query)),
    ),
    details,
  );
  return h('li', {}, node);
}

async function showDetails(
  context: Context,
  place: HTMLElement,
  record: QueryRecord,
): Promise<void> {
  const schema = await context.schema().catch(() => NO_SCHEMA);
  const advice = adviseOn(record, schema);
  fill(
    place,
    ...advice.flatMap((each) => adviceOn(context, each)),
    isSlow(record) && advice.length === 0 && hint('No index is known that would help.'),
    h('h3', {}, 'The query'),
    code(shownQuery(record.query), { 'aria-label': 'The query' }),
    h('h3', {}, 'What it read'),
    readList(record),
    h('h3', {}, 'What it cost'),
    metricsList(record.metrics),
    facts([
      ['As', record.actor ?? 'nobody'],
      ['Status', String(record.status)],
      ['Error', record.errorCode ?? '–'],
      ...deniedFacts(record),
    ]),
  );
}

/** Shown only here: the caller of a query does not get to know what it was denied. */
function deniedFacts({ errorCode, errorPosition, query }: QueryRecord): [string, string][] {
  return errorCode === 'permission denied' && errorPosition && query !== undefined
    ? [['Denied', deniedForm(query, errorPosition)]]
    : [];
}

function adviceOn(context: Context, { reason, create, use, keepsFilter }: Advice): Child[] {
  return [
    h(
      'div',
      { class: 'advice', 'data-part': 'advice' },
      h('p', {}, h('strong', {}, 'An index would help. '), reason),
      create !== undefined && h('p', {}, 'Create it once:'),
      create !== undefined && code(create, { 'aria-label': 'The index that would help' }),
      create !== undefined && button('Put it into the shell', () => context.openShell(create)),
      use !== undefined &&
        h(
          'p',
          {},
          'Then write ',
          h('code', {}, use),
          keepsFilter
            ? ' in place of the set or page that is filtered; the filter stays, for its other conditions.'
            : ' in place of the filter or page.',
        ),
    ),
  ];
}

export function readList({ reads }: Pick<QueryRecord, 'reads'>): HTMLElement {
  if (!reads) return hint('It ran before the inspector was opened: only its metrics are known.');
  const { collections, indexes, entries } = reads;
  const lines = [
    ...indexes.map(
      ({ name, count }) => `index ${name ?? '(gone)'}: ${counted(count, 'range')} of entries`,
    ),
    ...collections.map(
      ({ name, count }) => `collection ${name ?? '(gone)'}: ${counted(count, 'document')}`,
    ),
    `${counted(entries, 'entry', 'entries')} scanned by sets`,
  ];
  return h('ul', {}, ...lines.map((line) => h('li', {}, line)));
}
