/** A shell for FQL, with completion. */
import { QueryError, type QueryMetrics } from '../../src/index.ts';
import { OWN } from '../ask.ts';
import { completionsAt, type Completion } from '../completion.ts';
import { problemOf, type Context, type Panel, type Runner } from '../context.ts';
import { button, code, fill, h, hint, type Child } from '../dom.ts';
import { build, type Built } from '../fql/build.ts';
import { SyntaxProblem } from '../fql/tokens.ts';
import { mayHoldSecret, shownValue } from '../hide-secrets.ts';
import { metricsList } from '../metrics.ts';
import { NO_SCHEMA, type SchemaInfo } from '../schema.ts';

const HISTORY_MAX = 50;

export interface Shell extends Panel {
  open(text: string): void;
}

export function shellPanel(context: Context): Shell {
  let schema: SchemaInfo = NO_SCHEMA;
  const area = queryArea();
  const output = h('div', { class: 'output', role: 'status', 'aria-label': 'Answer' });
  const completion = new CompletionList(area, () => schema);
  const history = new History(area);
  const actor = actorSelect(context);
  const run = async (): Promise<void> => {
    const text = area.value;
    const runner = actor.chosen();
    fill(output, 'Running…');
    completion.close();
    let built: Built | undefined;
    try {
      built = build(text);
      history.add(text);
      const { value, metrics } = await runner.queryWithMetrics(built.expression, OWN);
      fill(output, ...answer(value, metrics));
    } catch (error) {
      fill(output, ...failure(error, area, built));
    }
  };
  area.addEventListener('keydown', (event) => {
    if (completion.handle(event) || history.handle(event)) event.preventDefault();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void run();
    }
  });
  const node = h(
    'div',
    { class: 'shell' },
    h('label', { for: 'query' }, 'Query'),
    area,
    completion.node,
    h(
      'div',
      { class: 'buttons' },
      button('Run', run, { class: 'primary' }),
      h('label', { for: 'actor' }, 'As'),
      actor.node,
    ),
    h(
      'p',
      { class: 'hint', id: 'shell-keys' },
      'Ctrl+Enter runs it. Ctrl+Space completes. Alt+Up and Alt+Down go through earlier queries. The text is parsed, never run as JavaScript.',
    ),
    output,
    history.node,
  );
  return {
    id: 'shell',
    label: 'Shell',
    node,
    show: async () => {
      schema = await context.schema().catch(() => NO_SCHEMA);
    },
    open: (text) => {
      area.value = text;
      area.focus();
    },
  };
}

const queryArea = (): HTMLTextAreaElement =>
  h('textarea', {
    id: 'query',
    rows: 6,
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    'aria-autocomplete': 'list',
    'aria-describedby': 'shell-keys',
  });

/** A choice of the client that runs queries: with the root secret, or the client of the app. */
function actorSelect({ app, root }: Context): {
  readonly node: HTMLElement;
  readonly chosen: () => Runner;
} {
  const node = h('select', { id: 'actor' }, h('option', { value: 'root' }, 'root'));
  if (app) node.append(h('option', { value: 'app' }, 'the app’s client'));
  return { node, chosen: () => (node.value === 'app' && app ? app : root) };
}

const answer = (value: unknown, metrics: QueryMetrics): Child[] => {
  const text = shownValue(value);
  return [
    code(text, { 'aria-label': 'Result', 'data-part': 'result' }),
    text.includes('"***"') && hint('Secrets are not shown here. Create keys and log in from code.'),
    metricsList(metrics),
  ];
};

function failure(error: unknown, area: HTMLTextAreaElement, built: Built | undefined): Child[] {
  const place =
    error instanceof SyntaxProblem
      ? error
      : error instanceof QueryError && error.position.length > 0
        ? built?.locate(error.position)
        : undefined;
  return [
    h(
      'p',
      { class: 'problem', 'data-part': 'problem' },
      error instanceof QueryError && h('strong', {}, `${error.code} `),
      problemOf(error),
    ),
    place &&
      button('Select where', () => {
        area.focus();
        area.setSelectionRange(place.start, Math.max(place.end, place.start + 1));
      }),
  ];
}

/** A list below the text area, controlled by keys while the text area has the focus. */
class CompletionList {
  readonly node: HTMLElement;
  private readonly area: HTMLTextAreaElement;
  private readonly schema: () => SchemaInfo;
  private shown: readonly Completion[] = [];
  private at = 0;

  constructor(area: HTMLTextAreaElement, schema: () => SchemaInfo) {
    this.area = area;
    this.schema = schema;
    this.node = h('ul', {
      id: 'completions',
      class: 'completions',
      role: 'listbox',
      'aria-label': 'Completions',
      hidden: true,
    });
    area.addEventListener('input', () => this.look(2));
    area.addEventListener('blur', () => this.close());
  }

  close(): void {
    this.shown = [];
    this.draw();
  }

  /** Returns whether the key was handled by the list. */
  handle(event: KeyboardEvent): boolean {
    if (event.ctrlKey && event.code === 'Space') {
      this.look(0);
      return true;
    }
    if (this.shown.length === 0 || event.ctrlKey || event.altKey || event.metaKey) return false;
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        const step = event.key === 'ArrowDown' ? 1 : -1;
        this.at = (this.at + step + this.shown.length) % this.shown.length;
        this.draw();
        return true;
      }
      case 'Enter':
      case 'Tab':
        this.accept(this.shown[this.at]);
        return true;
      case 'Escape':
        // Escape closes only the list, not the inspector.
        event.stopPropagation();
        this.close();
        return true;
      default:
        return false;
    }
  }

  /** @param least number of characters of the word that must have been typed */
  private look(least: number): void {
    const { selectionStart, selectionEnd, value } = this.area;
    const found = completionsAt(value, selectionStart, this.schema());
    const isWanted =
      selectionStart === selectionEnd && !!found[0] && selectionStart - found[0].start >= least;
    this.shown = isWanted ? found : [];
    this.at = 0;
    this.draw();
  }

  private accept(chosen: Completion | undefined): void {
    if (!chosen) return;
    this.area.setRangeText(chosen.insert, chosen.start, this.area.selectionStart, 'end');
    this.area.focus();
    this.close();
  }

  private draw(): void {
    const { node, shown, at, area } = this;
    node.hidden = shown.length === 0;
    fill(
      node,
      ...shown.map((each, index) =>
        h(
          'li',
          {
            id: `completion-${index}`,
            role: 'option',
            'aria-selected': String(index === at),
            // Not `click`: before a click, the text area loses the focus, which closes the list.
            on: {
              mousedown: (event) => {
                event.preventDefault();
                this.accept(each);
              },
            },
          },
          each.label,
        ),
      ),
    );
    if (shown.length === 0) {
      area.removeAttribute('aria-activedescendant');
      area.removeAttribute('aria-controls');
    } else {
      area.setAttribute('aria-activedescendant', `completion-${at}`);
      area.setAttribute('aria-controls', node.id);
    }
  }
}

/** Earlier queries, except those that may contain a password. They are kept as long as the inspector is open. */
class History {
  readonly node = h('details', { class: 'history', hidden: true });
  private readonly area: HTMLTextAreaElement;
  private texts: readonly string[] = [];
  private at = 0;
  /** The text that was typed but not run, while an earlier query is shown. */
  private draft = '';

  constructor(area: HTMLTextAreaElement) {
    this.area = area;
  }

  add(text: string): void {
    if (mayHoldSecret(text)) return;
    this.texts = [...this.texts.filter((each) => each !== text), text].slice(-HISTORY_MAX);
    this.at = this.texts.length;
    this.node.hidden = false;
    fill(
      this.node,
      h('summary', {}, 'Earlier queries'),
      h(
        'ol',
        {},
        ...this.texts.toReversed().map((each) =>
          h(
            'li',
            {},
            button(each, () => {
              this.area.value = each;
              this.area.focus();
            }),
          ),
        ),
      ),
    );
  }

  handle({ altKey, key }: KeyboardEvent): boolean {
    if (!altKey || (key !== 'ArrowUp' && key !== 'ArrowDown')) return false;
    const at = this.at + (key === 'ArrowUp' ? -1 : 1);
    if (at < 0 || at > this.texts.length) return true;
    if (this.at === this.texts.length) this.draft = this.area.value;
    this.at = at;
    this.area.value = this.texts[at] ?? this.draft;
    return true;
  }
}
