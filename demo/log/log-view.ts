/** The query log: requests a time range as a file, and lists earlier requests. */
import type { LogRequestRecord, LogState } from '../../src/index.ts';
import type { App, View } from '../shell/app.ts';
import { button, field, fill, h, lead, submitting, type Child } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { formatTime } from '../shell/format.ts';

const HOUR = 3_600_000;
const RANGES = [
  { label: 'The last hour', milliseconds: HOUR },
  { label: 'The last 24 hours', milliseconds: 24 * HOUR },
  { label: 'The last 30 days', milliseconds: 30 * 24 * HOUR },
] as const;
const POLL_MS = 250;

export function logView(app: App): View {
  const list = h('ul', { class: 'rows exports', 'data-testid': 'exports' });
  const range = h(
    'select',
    { name: 'range' },
    ...RANGES.map(({ label, milliseconds }) => h('option', { value: milliseconds }, label)),
  );
  const problem = h('p', { class: 'problem', role: 'alert' });
  const stopped = new AbortController();
  const draw = async (): Promise<void> => {
    const { results } = await app.db.logs.list({ max_results: 50 });
    if (stopped.signal.aborted) return;
    const rows = results.map((record) => exportRow(app, record));
    fill(list, ...(rows.length > 0 ? rows : [h('li', { class: 'hint' }, 'None yet.')]));
  };
  const report = (error: unknown): void => fill(problem, explain(error));
  const submit = async (): Promise<void> => {
    fill(problem);
    try {
      const now = Date.now();
      const { request_id } = await app.db.logs.request({
        time_start: new Date(now - Number(range.value)),
        time_end: new Date(now),
      });
      await draw();
      const { state } = await finished(app, request_id, stopped.signal);
      app.say(`Log file: ${STATES[state]}.`, state === 'Complete' ? 'good' : 'bad');
      await draw();
    } catch (error) {
      if (!stopped.signal.aborted) report(error);
    }
  };
  draw().catch(report);
  const form = h(
    'form',
    { class: 'card inline', on: { submit: submitting(submit) } },
    field('Time range', range),
    h('button', { type: 'submit', 'data-testid': 'export' }, 'Create file'),
  );
  return {
    title: 'Query log',
    node: h('div', { class: 'view narrow' }, ...intro(), form, problem, h('h2', {}, 'Files'), list),
    stop: () => stopped.abort(),
  };
}

const intro = (): Child[] => [
  h('h1', {}, 'Query log'),
  lead(
    'Every query is recorded in this browser, without passwords and secrets. Export the records as a gzip file with one JSON record per line.',
  ),
];

const STATES: Readonly<Record<LogState, string>> = {
  Pending: 'pending',
  Requested: 'in progress',
  CreatingNewUrl: 'creating a new link',
  Complete: 'ready',
  DoesNotExist: 'empty: no queries in this time range',
  Failed: 'failed',
  TimedOut: 'failed: it took too long',
};

const isOpen = ({ state }: LogRequestRecord): boolean =>
  state === 'Pending' || state === 'Requested' || state === 'CreatingNewUrl';

/** Polls until the request is finished, and returns its final record. */
async function finished(app: App, id: string, signal: AbortSignal): Promise<LogRequestRecord> {
  for (;;) {
    const record = await app.db.logs.status(id);
    if (!isOpen(record)) return record;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    signal.throwIfAborted();
  }
}

function exportRow(app: App, record: LogRequestRecord): HTMLElement {
  const actions = h('span', { class: 'buttons' });
  const item = h(
    'li',
    { 'data-state': record.state, 'data-request': record.request_id },
    h(
      'span',
      { class: 'grow' },
      `${formatTime(record.time_start)} to ${formatTime(record.time_end)}`,
      h('small', {}, `updated ${formatTime(record.updated_at)}`),
    ),
    h('span', { class: `tag state-${record.state}` }, STATES[record.state]),
    actions,
  );
  if (record.state === 'Complete') drawActions(app, record, actions);
  return item;
}

function drawActions(app: App, record: LogRequestRecord, actions: HTMLElement): void {
  const { request_id: id, version, presigned_url_expiration_time: expires } = record;
  const action = (label: string, testId: string, run: () => Promise<LogRequestRecord>) => {
    const redraw = (): Promise<void> =>
      run().then(
        (renewed) => drawActions(app, renewed, actions),
        (error: unknown) => app.say(explain(error), 'bad'),
      );
    return button(label, redraw, { class: 'quiet small', 'data-testid': testId });
  };
  const download = async (): Promise<LogRequestRecord> => {
    const known = await app.db.logs.status(id);
    const { presigned_url: url } = known;
    if (url === undefined) app.say('The link has expired. Create a new one.', 'bad');
    else saveAs(url, `burrow-log-${record.time_end.slice(0, 19).replaceAll(':', '')}.jsonl.gz`);
    return known;
  };
  fill(
    actions,
    action('Download', 'download', download),
    action('New link', 'new-link', async () => {
      const renewed = await app.db.logs.createUrl(id, { version });
      app.say('New link created.');
      return renewed;
    }),
    expires !== undefined && h('small', { class: 'hint' }, `link valid until ${until(expires)}`),
  );
}

const until = (iso: string): string => new Date(iso).toLocaleTimeString();

function saveAs(url: string, name: string): void {
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}
