/** Panel with the state of sync: how far the copy is, which writes have not reached the hub, and why a write was refused. */
import { Expr, q, queryText, type Expr as Expression } from '../../src/index.ts';
import type { Diagnostics, SetRecord, SyncRecord } from '../../src/host/diagnostics.ts';
import type { WriteChoice, WriteData } from '../../src/host/sync.ts';
import { OWN } from '../ask.ts';
import { problemOf, type Context, type Panel } from '../context.ts';
import { button, code, facts, fill, h, hasFocus, hint, select, table, type Child } from '../dom.ts';
import { build } from '../fql/build.ts';
import { counted, formatBytes, formatMicros, formatNumber } from '../format.ts';
import { hideSecretTexts, shownQuery } from '../hide-secrets.ts';

const STATES: Readonly<Record<SyncRecord['state'], string>> = {
  connecting: 'connecting to the hub',
  'catching-up': 'fetching changes',
  live: 'up to date with the hub',
  offline: 'the hub cannot be reached; retried by itself',
  'needs-login': 'the token has expired; writes wait',
  locked: 'the token was revoked, or the user has signed out',
};

const WRITES = {
  local: 'not synced yet',
  parked: 'waits for a login',
  confirmed: 'confirmed',
  amended: 'amended: the hub did something else than was shown here',
  refused: 'refused',
} as const;

const FILTERS = {
  open: {
    label: 'Not synced, and refused',
    has: (state: WriteData['state']) => state !== 'confirmed' && state !== 'amended',
  },
  all: { label: 'All', has: () => true },
} as const;

export function syncPanel(context: Context): Panel {
  const overview = h('div', {});
  const sets = new SetTable(context);
  const writes = new WriteList(context);
  let before = '';
  const none = hint('This database is not a copy of a hub’s: it does not sync.');
  const whole = h(
    'div',
    { hidden: true },
    overview,
    h('h3', {}, 'Sets'),
    sets.node,
    ...writes.nodes,
  );
  const draw = ({ sync }: Diagnostics): void => {
    none.hidden = sync !== undefined;
    whole.hidden = sync === undefined;
    if (!sync) return;
    const now = JSON.stringify(sync);
    if (now !== before) {
      before = now;
      fill(overview, overviewOf(sync));
      sets.draw(sync.sets);
      writes.receive(sync.writes);
    }
    writes.drawWithoutFocus();
  };
  return { id: 'sync', label: 'Sync', node: h('div', {}, none, whole), draw };
}

const overviewOf = (sync: SyncRecord): HTMLElement => {
  const refused = sync.writes.filter(({ state }) => state === 'refused').length;
  return facts([
    [
      'State',
      `${sync.state}: ${STATES[sync.state]}${sync.reason === undefined ? '' : `. ${hideSecretTexts(sync.reason)}`}`,
    ],
    ['Hub', sync.hub],
    [
      'Not synced yet',
      h(
        'strong',
        {},
        `${counted(sync.pending, 'write')}, ${formatNumber(sync.pendingSize)} characters`,
      ),
    ],
    ['Refused', h('strong', {}, counted(refused, 'write'))],
    [
      'Cursor',
      sync.cursorMicros === undefined
        ? 'nothing received yet'
        : `${formatMicros(sync.cursorMicros)} of the hub’s time`,
    ],
    ['Schema', sync.hasSchema ? 'received' : 'not received yet'],
    ['Clock of the hub', skewText(Math.round(sync.skewMicros / 1000))],
  ]);
};

const skewText = (aheadMs: number): string =>
  `${formatNumber(Math.abs(aheadMs))} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} this device`;

const LOADED: Readonly<Record<SetRecord['loaded'], string>> = {
  nothing: 'nothing yet',
  part: 'in part',
  all: 'complete',
  refused: 'refused',
};

/** The sets with the number of their rows, and their size in bytes. The size is measured on demand, because that reads every document. */
class SetTable {
  readonly node = h('div', {});
  private readonly context: Context;
  private readonly measured = new Map<string, string>();
  private shown: readonly SetRecord[] = [];

  constructor(context: Context) {
    this.context = context;
  }

  draw(sets: readonly SetRecord[]): void {
    this.shown = sets;
    const rows = sets.map(({ query, rows, of, loaded, error }): Child[] => [
      h('code', {}, shownQuery(query)),
      of === undefined ? formatNumber(rows) : `${formatNumber(rows)} of ${formatNumber(of)}`,
      error
        ? `${LOADED.refused}: ${error.code}, ${hideSecretTexts(error.description)}`
        : LOADED[loaded],
      this.measured.get(query) ?? '–',
    ]);
    fill(
      this.node,
      sets.length === 0
        ? hint('The app keeps no sets.')
        : table('Sets', ['Set', 'Rows', 'Here', 'Bytes'], rows),
      sets.length > 0 && button('Measure bytes', () => this.measure()),
    );
  }

  private async measure(): Promise<void> {
    for (const { query } of this.shown)
      this.measured.set(query, await sizeOf(this.context, query).catch(problemOf));
    this.draw(this.shown);
    this.context.say('The bytes of the sets are measured.');
  }
}

const MEASURED_PAGE = 1000;
const MEASURED_PAGES_MAX = 20;

/** The size of a set's documents, taken from the metrics of the queries that read them. */
async function sizeOf({ root }: Context, query: string): Promise<string> {
  const set = new Expr(JSON.parse(query));
  let bytes = 0;
  let after: Expression | undefined;
  for (let page = 0; page < MEASURED_PAGES_MAX; page += 1) {
    const members = q.Map(
      q.Paginate(set, { size: MEASURED_PAGE, ...(after && { after }) }),
      (ref) => q.Do(q.If(q.Exists(ref), q.Get(ref), null), 1),
    );
    const { value, metrics } = await root.queryWithMetrics<{ readonly after?: Expression }>(
      members,
      OWN,
    );
    bytes += metrics.readBytes;
    ({ after } = value);
    if (!after) return formatBytes(bytes);
  }
  return `more than ${formatBytes(bytes)}`;
}

/** The list of writes, with a filter. */
class WriteList {
  readonly nodes: readonly HTMLElement[];
  private readonly context: Context;
  private readonly heading = h('h3', { tabindex: -1 }, 'Writes');
  private readonly filter = select('writes-filter', FILTERS, () => this.draw());
  private readonly list = h('ul', { class: 'records', 'aria-label': 'Writes' });
  private readonly items = new Map<
    string,
    { readonly shape: string; readonly node: HTMLElement }
  >();
  private writes: readonly WriteData[] = [];
  private isStale = false;

  constructor(context: Context) {
    this.context = context;
    const choice = [h('label', { for: 'writes-filter' }, 'Show'), this.filter];
    this.nodes = [this.heading, h('div', { class: 'buttons' }, ...choice), this.list];
  }

  receive(writes: readonly WriteData[]): void {
    this.writes = writes;
    this.isStale = true;
  }

  /** Draws the list, unless it contains the focus: then it is drawn after it has lost the focus. */
  drawWithoutFocus(): void {
    if (this.isStale && !hasFocus(this.list)) this.draw();
  }

  private draw(): void {
    this.isStale = false;
    const { has } = this.filter.value === 'all' ? FILTERS.all : FILTERS.open;
    const shown = this.writes.filter(({ state }) => has(state)).toReversed();
    fill(
      this.list,
      ...shown.map((write) => this.itemOf(write)),
      shown.length === 0 && h('li', { class: 'hint' }, 'None.'),
    );
  }

  /** Reuses the item of a write while it looks the same, so that an opened item stays open. */
  private itemOf(write: WriteData): HTMLElement {
    const shape = shapeOf(write);
    const known = this.items.get(write.id);
    if (known?.shape === shape) return known.node;
    const node = writeItem(write, (id, choice) => this.resolve(id, choice));
    this.items.set(write.id, { shape, node });
    return node;
  }

  private async resolve(id: string, choice: WriteChoice): Promise<void> {
    const { sync } = await this.context.ask({ resolve: { id, choice } });
    this.writes = sync?.writes ?? [];
    this.draw();
    this.heading.focus();
    this.context.say('discard' in choice ? 'The write is discarded.' : 'The write is sent again.');
  }
}

/** The part of a write that may change its item. */
const shapeOf = (write: WriteData): string =>
  'predicted' in write && write.predicted !== undefined ? `${write.state}, predicted` : write.state;

type Resolve = (id: string, choice: WriteChoice) => Promise<void>;

function writeItem(write: WriteData, resolve: Resolve): HTMLElement {
  const { state, query, note, madeMicros, replaces } = write;
  const isRefused = state === 'refused';
  const { code: errorCode, description, position } = isRefused ? errorOf(write) : NO_ERROR;
  const predicted = 'predicted' in write && write.predicted !== undefined;
  const node = h(
    'details',
    { 'data-state': state },
    h(
      'summary',
      {},
      h(
        'span',
        {
          class: `tag ${isRefused ? 'bad' : state === 'local' || state === 'parked' ? 'warn' : ''}`,
        },
        isRefused ? `refused: ${errorCode}` : WRITES[state].replace(/:.*/, ''),
      ),
      predicted && h('span', { class: 'tag bad' }, 'will probably be refused'),
      note?.label !== undefined && h('strong', {}, `${note.label} `),
      h('span', {}, formatMicros(madeMicros)),
      h('code', { class: 'line' }, shownQuery(query)),
    ),
    h(
      'div',
      { class: 'detail' },
      isRefused &&
        h(
          'p',
          { class: 'problem', 'data-part': 'reason' },
          h('strong', {}, 'Why it was refused: '),
          `${errorCode}. ${description}`,
          position !== '' && ` At ${position}.`,
        ),
      !isRefused && h('p', {}, `State: ${WRITES[state]}.`),
      code(shownQuery(query), { 'aria-label': 'The write' }),
      replaces !== undefined && hint('It replaces a refused write.'),
      isRefused && choices(write, resolve),
    ),
  );
  return h('li', {}, node);
}

function choices({ id, query }: WriteData, resolve: Resolve): HTMLElement {
  const problem = h('p', { class: 'problem', role: 'alert' });
  const attempt = (choice: () => WriteChoice) => async (): Promise<void> => {
    fill(problem);
    try {
      await resolve(id, choice());
    } catch (error) {
      fill(problem, problemOf(error));
    }
  };
  const area = h('textarea', {
    rows: 4,
    spellcheck: 'false',
    'aria-label': 'Another query in its place',
  });
  area.value = isShownExactly(query) ? shownQuery(query) : '';
  const editing = h(
    'div',
    { hidden: true },
    area,
    button(
      'Send it',
      attempt(() => ({ edit: queryText(build(area.value).expression) })),
      { class: 'primary' },
    ),
  );
  const discard = button('Discard', () => {
    // A discarded write cannot be restored, so a second click confirms.
    if (discard.textContent === 'Discard') discard.textContent = 'Discard for good';
    else void attempt(() => ({ discard: true }))();
  });
  return h(
    'div',
    {},
    h(
      'div',
      { class: 'buttons' },
      button(
        'Retry',
        attempt(() => ({ retry: true })),
      ),
      button('Edit', () => {
        editing.hidden = false;
        area.focus();
      }),
      discard,
    ),
    editing,
    problem,
  );
}

/** Otherwise an edit would change what is not edited: long integers, Doubles that are whole numbers, hidden secrets. */
const isShownExactly = (query: string): boolean =>
  !/\d{16}|\d\.0\b/.test(query) && hideSecretTexts(query) === query;

const NO_ERROR = { code: '', description: '', position: '' };

/** The error in the hub's answer. */
function errorOf(write: WriteData): typeof NO_ERROR {
  const text = 'body' in write ? write.body : undefined;
  if (text === undefined)
    return { ...NO_ERROR, code: 'unknown', description: 'The reason was too long to be stored.' };
  const body = JSON.parse(text) as {
    readonly errors?: readonly {
      readonly code?: string;
      readonly description?: string;
      readonly position?: readonly unknown[];
    }[];
  };
  const [error] = body.errors ?? [];
  return {
    code: error?.code ?? 'unknown',
    description: hideSecretTexts(error?.description ?? ''),
    position: error?.position?.join(' → ') ?? '',
  };
}
