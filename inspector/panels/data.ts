/** Panel with collections and indexes, the documents of a collection page by page, and the history of a document. */
import { q, type Expr, type Ref } from '../../src/index.ts';
import { OWN } from '../ask.ts';
import { problemOf, type Context, type Panel } from '../context.ts';
import { button, code, facts, fill, h, hint, table, type Child } from '../dom.ts';
import { counted, formatMicros } from '../format.ts';
import { shownValue } from '../hide-secrets.ts';
import { fieldText, type IndexInfo } from '../schema.ts';

const PAGE_SIZE = 20;
const HISTORY_SIZE = 50;
const PREVIEW_CHARS = 120;

interface StoredDocument {
  readonly ref: Ref;
  readonly ts: number;
  readonly data?: unknown;
}
interface DocumentPage {
  readonly data: readonly StoredDocument[];
  readonly before?: Expr;
  readonly after?: Expr;
}
interface Event {
  readonly ts: number;
  readonly action: string;
  readonly data: unknown;
}

export function dataPanel(context: Context): Panel {
  const lists = h('div', {});
  const contents = h('section', { class: 'contents', 'aria-label': 'Documents' });
  const open = (name: string): void => {
    void showPage(context, contents, name, {});
  };
  const show = async (): Promise<void> => {
    try {
      const { collections, indexes } = await context.schema();
      fill(
        lists,
        h('h3', {}, 'Collections'),
        collections.length === 0 && hint('There are none yet.'),
        h(
          'ul',
          { class: 'choices' },
          ...collections.map((name) =>
            h(
              'li',
              {},
              button(name, () => open(name)),
            ),
          ),
        ),
        h('h3', {}, 'Indexes'),
        indexes.length === 0
          ? hint('There are none yet.')
          : table('Indexes', ['Name', 'Source', 'Terms', 'Values', 'State'], indexes.map(indexRow)),
      );
    } catch (error) {
      fill(lists, h('p', { class: 'problem' }, problemOf(error)));
    }
  };
  return { id: 'data', label: 'Data', node: h('div', { class: 'data' }, lists, contents), show };
}

const indexRow = ({ name, sources, terms, values, isUnique, isActive }: IndexInfo): Child[] => [
  h('code', {}, name),
  sources.join(', '),
  terms.map(fieldText).join(', ') || '–',
  values.map((each) => `${fieldText(each)}${each.reverse ? ' ↓' : ''}`).join(', ') || 'ref',
  [isActive ? 'active' : 'being built', isUnique && 'unique'].filter(Boolean).join(', '),
];

/** What each element is to show next. An answer to an earlier click may arrive late, and is then ignored. */
const wanted = new WeakMap<HTMLElement, object>();

async function showPage(
  context: Context,
  place: HTMLElement,
  name: string,
  cursor: { readonly before?: Expr; readonly after?: Expr },
): Promise<void> {
  wanted.set(place, cursor);
  try {
    const set = q.Documents(q.Collection(name));
    const page = await context.root.query<DocumentPage>(
      q.Map(q.Paginate(set, { size: PAGE_SIZE, ...cursor }), (ref) => q.Get(ref)),
      OWN,
    );
    if (wanted.get(place) !== cursor) return;
    const { data, before, after } = page;
    const detail = h('div', { class: 'detail' });
    const turn = (label: string, to: Expr | undefined, by: 'before' | 'after') =>
      button(label, () => to && showPage(context, place, name, { [by]: to }), {
        disabled: to === undefined,
      });
    fill(
      place,
      h('h3', { tabindex: -1 }, `Documents of “${name}”`),
      h(
        'div',
        { class: 'buttons' },
        turn('Previous page', before, 'before'),
        turn('Next page', after, 'after'),
        button('Query in the shell', () =>
          context.openShell(`Paginate(Documents(Collection(${JSON.stringify(name)})))`),
        ),
      ),
      data.length === 0
        ? hint('No documents.')
        : table(
            `Documents of ${name}`,
            ['Id', 'Last written', 'Data'],
            data.map((each) => [
              button(each.ref.id, () => showDocument(context, detail, each)),
              formatMicros(each.ts),
              h('code', {}, preview(each.data)),
            ]),
          ),
      detail,
    );
    context.say(`${counted(data.length, 'document')} of ${name}`);
    place.querySelector('h3')?.focus();
  } catch (error) {
    fill(place, h('p', { class: 'problem', role: 'alert' }, problemOf(error)));
  }
}

function preview(data: unknown): string {
  const text = shownValue(data ?? {}).replaceAll(/\s+/g, ' ');
  return text.length > PREVIEW_CHARS ? `${text.slice(0, PREVIEW_CHARS)}…` : text;
}

async function showDocument(
  context: Context,
  place: HTMLElement,
  document: StoredDocument,
): Promise<void> {
  const history = h('div', {});
  const heading = h('h4', { tabindex: -1 }, `Document ${document.ref.id}`);
  fill(
    place,
    heading,
    facts([
      ['Ref', h('code', {}, shownValue(document.ref))],
      ['Last written', formatMicros(document.ts)],
    ]),
    code(shownValue(document), { 'aria-label': 'The document' }),
    h('h4', {}, 'History'),
    history,
  );
  heading.focus();
  try {
    const { data } = await context.root.query<{ readonly data: readonly Event[] }>(
      q.Paginate(q.Events(document.ref), { size: HISTORY_SIZE, before: null }),
      OWN,
    );
    const events = data.toReversed();
    fill(
      history,
      table(
        'History',
        ['Time', 'What', 'Changed'],
        events.map(({ ts, action, data: changed }) => [
          formatMicros(ts),
          action,
          h('code', {}, preview(changed)),
        ]),
      ),
    );
  } catch (error) {
    fill(history, h('p', { class: 'problem' }, problemOf(error)));
  }
}
