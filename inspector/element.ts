/** The custom element: shows tabs with panels, and polls the worker while it is visible. */
import { UsageError, type Client, type Database } from '../src/index.ts';
import type { Diagnostics, DiagnosticsCall } from '../src/host/diagnostics.ts';
import { askWorker } from './ask.ts';
import { problemOf, type Context, type Panel } from './context.ts';
import { button, fill, h, hint } from './dom.ts';
import { dataPanel } from './panels/data.ts';
import { livePanel } from './panels/live.ts';
import { queriesPanel } from './panels/queries.ts';
import { shellPanel, type Shell } from './panels/shell.ts';
import { storagePanel } from './panels/storage.ts';
import { syncPanel } from './panels/sync.ts';
import { readSchema } from './schema.ts';
import { styleSheet } from './styles.ts';

/** Interval between two polls of the worker while the inspector is visible, ms. */
const POLL_MS = 1000;

/** Servers have no `HTMLElement`. There, the module can be imported, but not used. */
const Base =
  (globalThis as { HTMLElement?: typeof HTMLElement }).HTMLElement ??
  (Object as unknown as typeof HTMLElement);

/** @throws UsageError */
export function requireDatabase(given: Partial<Database> | undefined): void {
  if (!given?.verify)
    throw new UsageError('The inspector takes an open database: await openDatabase(…).');
}

/**
 * `<burrow-inspector>`: shows what a database contains and what happens in it. Set the property `database`.
 * @example
 * const inspector = new BurrowInspector();
 * inspector.database = db;
 * document.body.append(inspector);
 */
export class BurrowInspector extends Base {
  /** @internal The element that had the focus before the inspector was opened; it gets the focus back. */
  opener: Element | null = null;
  #database: Database | undefined = undefined;
  #client: Client | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #stop: AbortController | undefined = undefined;

  /** The database that is shown. */
  get database(): Database | undefined {
    return this.#database;
  }
  set database(database: Database | undefined) {
    if (database) requireDatabase(database);
    this.#end();
    this.#database = database;
    this.#begin();
  }

  /** A client of the app, such as `sync.client`: the shell can run queries with it. */
  get client(): Client | undefined {
    return this.#client;
  }
  set client(client: Client | undefined) {
    if (client && !(client as Partial<Client>).queryWithMetrics)
      throw new UsageError('The option `client` must be a client, such as `sync.client`.');
    this.#end();
    this.#client = client;
    this.#begin();
  }

  connectedCallback(): void {
    // Properties that were set before the module was loaded hide the accessors: they are deleted and set again.
    for (const name of ['database', 'client'] as const) {
      const own = Object.getOwnPropertyDescriptor(this, name);
      if (!own) continue;
      delete this[name];
      Object.assign(this, { [name]: own.value as unknown });
    }
    this.#begin();
  }

  disconnectedCallback(): void {
    this.#end();
    if (this.opener instanceof HTMLElement) this.opener.focus();
  }

  /** Moves the focus to the tab that is selected. */
  override focus(): void {
    this.shadowRoot?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus();
  }

  #begin(): void {
    const db = this.#database;
    if (!db || !this.isConnected || this.#stop) return;
    this.#stop = new AbortController();
    const status = h('p', { class: 'voice', role: 'status' });
    const problem = h('p', { class: 'problem', role: 'alert', hidden: true });
    const { tabs, refresh } = openPanels(db, this.#client, (message) => {
      status.textContent = message;
    });
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [styleSheet()];
    const panels = h('div', { class: 'panels' }, problem, ...tabs.nodes);
    fill(root, this.#frame(db.name, tabs.list, panels, status));
    tabs.select('data');
    // Nothing that the panels have read outlives the session of the user.
    const { signal } = this.#stop;
    db.addEventListener('locked', () => this.#restart(), { signal });
    void this.#poll(refresh, problem, signal);
  }

  #frame(name: string, ...content: readonly HTMLElement[]): HTMLElement {
    return h(
      'section',
      {
        class: 'frame',
        'aria-label': 'Burrow inspector',
        on: { keydown: (event) => this.#onKey(event) },
      },
      h(
        'header',
        {},
        h('h2', {}, 'Burrow'),
        hint(
          `${name} · reads with the root secret of this page, as the developer: it may see everything`,
        ),
        this.hasAttribute('docked') &&
          button('Close', () => this.remove(), { 'aria-label': 'Close the inspector' }),
      ),
      ...content,
    );
  }

  /** Refreshes the panels now, and then every second until the signal is aborted, unless the page is hidden. */
  async #poll(
    refresh: () => Promise<unknown>,
    problem: HTMLElement,
    stopped: AbortSignal,
  ): Promise<void> {
    try {
      if (!document.hidden) {
        await refresh();
        problem.hidden = true;
      }
    } catch (error) {
      // The database is locked, which the storage panel shows; or it is closed, and panels keep showing what they had.
      problem.hidden = false;
      problem.textContent = problemOf(error);
    }
    if (stopped.aborted) return;
    this.#timer = setTimeout(() => void this.#poll(refresh, problem, stopped), POLL_MS);
  }

  #restart(): void {
    this.#end();
    this.#begin();
  }

  #end(): void {
    if (!this.#stop) return;
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#stop = undefined;
    const db = this.#database;
    // A closed or locked database records nothing.
    if (db && !db.isLocked) askWorker(db, { watch: false }).catch(() => undefined);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape' && this.hasAttribute('docked')) this.remove();
  }
}

/**
 * Creates the panels for a database, with a function that fetches the worker's new reports and draws them.
 * @param app the client of the app, if it passed one
 * @param say announces a message to users of a screen reader
 */
function openPanels(db: Database, app: Client | undefined, say: (message: string) => void) {
  let known = 0;
  const draw = (diagnostics: Diagnostics): Diagnostics => {
    known = diagnostics.last;
    for (const panel of panels) panel.draw?.(diagnostics);
    return diagnostics;
  };
  const context: Context = {
    db,
    root: db.client(),
    app,
    schema: () => readSchema(context.root),
    ask: async (call: DiagnosticsCall) => draw(await askWorker(db, { ...call, after: known })),
    openShell: (text) => {
      tabs.select(shell.id);
      shell.open(text);
    },
    say,
  };
  const shell: Shell = shellPanel(context);
  const panels: readonly Panel[] = [
    dataPanel(context),
    shell,
    queriesPanel(context),
    livePanel(),
    syncPanel(context),
    storagePanel(context),
  ];
  const tabs = new Tabs(panels);
  return { tabs, refresh: () => context.ask({}) };
}

/** Tabs that can be changed by arrow keys. */
class Tabs {
  readonly list: HTMLElement;
  readonly nodes: readonly HTMLElement[];
  private readonly panels: readonly Panel[];
  private readonly tabs: readonly HTMLButtonElement[];

  constructor(panels: readonly Panel[]) {
    this.panels = panels;
    this.tabs = panels.map(({ id, label }) =>
      button(label, () => this.select(id), {
        id: `tab-${id}`,
        role: 'tab',
        'aria-controls': `panel-${id}`,
      }),
    );
    this.list = h(
      'div',
      {
        class: 'tabs',
        role: 'tablist',
        'aria-label': 'Views',
        on: { keydown: (event) => this.move(event) },
      },
      ...this.tabs,
    );
    this.nodes = panels.map(({ id, node }) =>
      h(
        'div',
        {
          id: `panel-${id}`,
          role: 'tabpanel',
          tabindex: 0,
          'aria-labelledby': `tab-${id}`,
          hidden: true,
        },
        node,
      ),
    );
  }

  select(id: string): void {
    this.panels.forEach((panel, at) => {
      const isChosen = panel.id === id;
      const node = this.nodes[at];
      const isNew = isChosen && node?.hidden === true;
      if (node) node.hidden = !isChosen;
      this.tabs[at]?.setAttribute('aria-selected', String(isChosen));
      this.tabs[at]?.setAttribute('tabindex', isChosen ? '0' : '-1');
      if (isNew) void panel.show?.();
    });
  }

  private move(event: KeyboardEvent): void {
    const at = this.tabs.findIndex((tab) => tab.tabIndex === 0);
    const last = this.tabs.length - 1;
    const to = {
      ArrowRight: at === last ? 0 : at + 1,
      ArrowLeft: at === 0 ? last : at - 1,
      Home: 0,
      End: last,
    }[event.key];
    const panel = to === undefined ? undefined : this.panels[to];
    if (!panel || to === undefined) return;
    event.preventDefault();
    this.select(panel.id);
    this.tabs[to]?.focus();
  }
}
