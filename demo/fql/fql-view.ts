/** Runs queries that the user types, with the permissions of an actor that the user chooses. */
import { Expr, type Client } from '../../src/index.ts';
import type { App, View } from '../shell/app.ts';
import { field, fill, h, lead, submitting } from '../shell/dom.ts';
import { failure, metricsList } from './answer.ts';
import { build, type Built } from '../../inspector/fql/build.ts';
import { completionFor } from './completion.ts';
import { EXAMPLES } from './examples.ts';
import { helpFor } from './help.ts';
import { printValue } from '../../inspector/fql/print-value.ts';
import { SyntaxProblem } from '../../inspector/fql/tokens.ts';

/** The last query that was typed. It is kept while the app runs. */
let draft = EXAMPLES[0]?.text ?? '';
let draftForm: 'builders' | 'wire' = 'builders';

export function fqlView(app: App): View {
  const area = queryArea();
  const output = h('div', { class: 'output', 'aria-live': 'polite', 'data-testid': 'output' });
  const actor = actorSelect(app);
  const form = formSelect();
  const run = async (): Promise<void> => {
    draft = area.value;
    draftForm = form.value === 'wire' ? 'wire' : 'builders';
    let built: Built | undefined;
    try {
      built = draftForm === 'wire' ? buildWire(draft) : build(draft);
      const { value, metrics } = await actor.chosen().client().queryWithMetrics(built.expression);
      fill(output, h('pre', { 'data-testid': 'result' }, printValue(value)), metricsList(metrics));
    } catch (error) {
      fill(output, ...failure(error, { built, area, rights: actor.chosen().rights }));
    }
  };
  const node = h(
    'div',
    { class: 'view' },
    h('h1', {}, 'Query'),
    lead(
      'Type any FQL query. It is parsed, not run as JavaScript; arrow functions become lambdas.',
    ),
    h(
      'form',
      { class: 'query', on: { submit: submitting(run), keydown: onShortcut } },
      exampleSelect(area, form),
      area,
      completionFor(area),
      h(
        'div',
        { class: 'buttons' },
        field('As', actor.node),
        field('Form', form),
        h('button', { type: 'submit', 'data-testid': 'run' }, 'Run'),
        h('span', { class: 'hint shortcut' }, 'Ctrl + Enter'),
      ),
    ),
    output,
    helpFor(area, (example, kind) => {
      replaceText(area, example);
      form.value = kind;
    }),
  );
  return {
    title: 'Query',
    node,
    stop: () => {
      draft = area.value;
    },
  };
}

function queryArea(): HTMLTextAreaElement {
  const area = h('textarea', {
    'aria-label': 'Query',
    rows: 9,
    spellcheck: 'false',
    autocapitalize: 'off',
    autocomplete: 'off',
    'data-testid': 'query',
  });
  area.value = draft;
  return area;
}

function onShortcut(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  (event.currentTarget as HTMLFormElement).requestSubmit();
}

interface Actor {
  readonly label: string;
  /** What this actor's permissions come from, in words. */
  readonly rights: string;
  readonly client: () => Client;
}

function actorSelect(app: App): {
  readonly node: HTMLSelectElement;
  readonly chosen: () => Actor;
} {
  const root: Actor = { label: 'root', rights: 'the root secret', client: () => app.root };
  const clients = new Map<string, Actor>([
    ['root', root],
    ['server', { label: 'server key', rights: 'a server key', client: () => app.server }],
    ['client', { label: 'client key', rights: 'a client key', client: () => app.visitor }],
    ...app.people.map(
      ({ id, name, role, roleName, client }) =>
        [
          `person ${id}`,
          {
            label: `${name}, ${role}`,
            rights: `the role “${roleName}”`,
            client: () => client,
          },
        ] as const,
    ),
    ...app.accounts.all.map(
      (account, at) =>
        [
          `account ${at}`,
          {
            label: `${account.email}, ${account.loginName}`,
            rights: 'this account',
            client: () => app.accounts.clientOf(account),
          },
        ] as const,
    ),
  ]);
  const options = [...clients].map(([value, { label }]) => h('option', { value }, label));
  const node = h('select', { 'data-testid': 'actor' }, ...options);
  return { node, chosen: () => clients.get(node.value) ?? root };
}

function formSelect(): HTMLSelectElement {
  const node = h(
    'select',
    { 'data-testid': 'form' },
    h('option', { value: 'builders' }, 'functions'),
    h('option', { value: 'wire' }, 'wire JSON'),
  );
  node.value = draftForm;
  return node;
}

function exampleSelect(area: HTMLTextAreaElement, form: HTMLSelectElement): HTMLElement {
  const node = h(
    'select',
    {
      'aria-label': 'Examples',
      on: {
        change: () => {
          const example = EXAMPLES[Number(node.value)];
          if (!example) return;
          replaceText(area, example.text);
          form.value = 'builders';
          node.value = '';
        },
      },
    },
    h('option', { value: '' }, 'Examples…'),
    ...EXAMPLES.map(({ label }, at) => h('option', { value: at }, label)),
  );
  return node;
}

/** Replaces the text and fires an `input` event, so that help and completion update as if the text had been typed. */
function replaceText(area: HTMLTextAreaElement, text: string): void {
  area.value = text;
  area.focus();
  area.dispatchEvent(new Event('input'));
}

function buildWire(text: string): Built {
  const whole = { start: 0, end: text.length };
  try {
    return { expression: new Expr(JSON.parse(text)), locate: () => whole };
  } catch (error) {
    throw new SyntaxProblem(error instanceof Error ? error.message : String(error), whole);
  }
}
