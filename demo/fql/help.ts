/** The language reference beside the query. `npm run docs` generates its data, which is fetched when the panel is first opened. */
import { button, fill, h, hint } from '../shell/dom.ts';
import { callAt } from '../../inspector/fql/caret.ts';

interface Form {
  readonly name: string;
  readonly family: string;
  readonly builders: readonly string[];
  readonly summary: string;
  readonly result: string;
  readonly errors: readonly string[];
  readonly example: string;
  readonly answer: string;
}

const loadForms = async (): Promise<readonly Form[]> =>
  (await import('../../docs/reference/forms.json')).default;

/** Matches examples that read data which only the reference's own database has. */
const NOTES = /notes|users|double|reader|shop|cellar/;

const nameOf = (signature: string): string => signature.slice(0, signature.indexOf('('));

/** Help for the call at the caret, and a list of all forms. `use` is called with an example and its kind. */
export function helpFor(
  area: HTMLTextAreaElement,
  use: (example: string, form: 'builders' | 'wire') => void,
): HTMLElement {
  const shown = h('div', { class: 'help', 'aria-live': 'polite', 'data-testid': 'help' });
  const list = h('div', { class: 'forms' });
  const node = h(
    'div',
    {},
    shown,
    h('details', { class: 'reference' }, h('summary', {}, 'All forms of the language'), list),
  );
  const show = (form: Form): void => fill(shown, ...helpOn(form, use));
  const choose = (form: Form): void => {
    show(form);
    shown.scrollIntoView({ block: 'nearest' });
  };
  void loadForms().then((forms) => {
    const byBuilder = new Map(
      forms.flatMap((form) => form.builders.map((each) => [nameOf(each), form] as const)),
    );
    const follow = (): void => {
      const form = byBuilder.get(callAt(area.value, area.selectionStart) ?? '');
      if (form) show(form);
    };
    for (const event of ['input', 'click', 'keyup'] as const) area.addEventListener(event, follow);
    // The user may have typed while the reference was loading.
    follow();
    fill(list, ...familyLists(forms, choose));
  });
  return node;
}

function helpOn(form: Form, use: Parameters<typeof helpFor>[1]): readonly HTMLElement[] {
  const isWire = form.builders.length === 0;
  return [
    h('p', {}, h('code', {}, isWire ? form.name : form.builders.join(' or ')), ` → ${form.result}`),
    h('p', {}, ...withCode(form.summary)),
    h('pre', {}, `${form.example}\n${form.answer.replaceAll(/^/gm, '→ ')}`),
    hint(
      form.errors.length > 0 && `Possible errors: ${form.errors.join(', ')}. `,
      NOTES.test(form.example) &&
        'The example uses the notes and users of the reference; this database has cities. ',
      button('Insert this example', () => use(form.example, isWire ? 'wire' : 'builders'), {
        class: 'quiet small',
      }),
    ),
  ];
}

/** Text between backticks becomes code. */
const withCode = (text: string): readonly (Node | string)[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? h('code', {}, part) : part));

function familyLists(forms: readonly Form[], show: (form: Form) => void): readonly HTMLElement[] {
  const families = [...new Set(forms.map(({ family }) => family))];
  return families.map((family) =>
    h(
      'section',
      {},
      h('h2', {}, family),
      h(
        'div',
        { class: 'chips' },
        ...forms
          .filter((form) => form.family === family)
          .map((form) => {
            const [first] = form.builders;
            const label = first === undefined ? form.name : nameOf(first);
            return button(label, () => show(form), { class: 'chip' });
          }),
      ),
    ),
  );
}
