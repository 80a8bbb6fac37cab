import { openDatabase, type Database } from '../src/index.ts';
import { aboutView } from './about-view.ts';
import { accountView } from './accounts/account-view.ts';
import { Accounts } from './accounts/accounts.ts';
import { cityView } from './cities/city-view.ts';
import { countriesView } from './cities/countries-view.ts';
import { countryView } from './cities/country-view.ts';
import { fqlView } from './fql/fql-view.ts';
import { CityImport } from './import/city-import.ts';
import { importBanner } from './import/import-view.ts';
import { logView } from './log/log-view.ts';
import { ensurePeople, peopleOf } from './roles/people.ts';
import { rolesView } from './roles/roles-view.ts';
import { ensureKeys, ensureSchema } from './schema.ts';
import type { App } from './shell/app.ts';
import { fill, h } from './shell/dom.ts';
import { explain } from './shell/explain.ts';
import { makeFrame, type Frame } from './shell/frame.ts';
import { inspectorButton } from './shell/inspector-button.ts';
import { openingFailed, watchDatabase, watchIndexBuilds } from './shell/notices.ts';
import { readRoute, startRouter } from './shell/router.ts';
import { registerService } from './shell/service.ts';
import { syncView } from './sync/sync-view.ts';

const DATABASE = 'burrow-cities';

const views = {
  cities: countriesView,
  country: countryView,
  city: cityView,
  roles: rolesView,
  sync: syncView,
  query: fqlView,
  log: logView,
  account: accountView,
  about: aboutView,
};

async function start(): Promise<void> {
  const frame = makeFrame();
  const opening = h('p', { class: 'opening', role: 'status' }, 'Opening the database…');
  const place = document.querySelector('#app');
  if (!place) throw new Error('index.html has no element #app.');
  fill(place, frame.node);
  fill(frame.notices, opening);
  registerService(DATABASE).catch((error: unknown) => {
    frame.say(`The app cannot be used offline: ${explain(error)}`, 'bad');
  });
  try {
    const db = await openDatabase(DATABASE, { log: { enabled: true } });
    watchDatabase(db, frame.notices);
    const app = await makeApp(db, frame);
    frame.header.append(inspectorButton(db, (message, kind) => app.say(message, kind)));
    opening.remove();
    frame.notices.prepend(importBanner(app));
    startRouter(app, views, (view, route) => frame.show(view, route));
    bringInCities(app);
  } catch (error) {
    // `opening` may have been taken away already.
    opening.remove();
    frame.notices.append(openingFailed(error));
  }
}

/** Whoever came for the page "Sync" is not kept busy with cities before they look at something else. */
function bringInCities(app: App): void {
  if (readRoute(location.hash).name !== 'sync') void app.cities.run();
  else addEventListener('hashchange', () => bringInCities(app), { once: true });
}

async function makeApp(db: Database, frame: Frame): Promise<App> {
  const say: App['say'] = (message, kind) => frame.say(message, kind);
  const root = db.client();
  watchIndexBuilds(db, frame.notices, (message) => say(message));
  await ensureSchema(root);
  await ensurePeople(root);
  const secrets = await ensureKeys(root);
  const people = peopleOf(db, secrets.server);
  const server = db.client({ secret: secrets.server });
  const visitor = db.client({ secret: secrets.client });
  const accounts = new Accounts(db, visitor);
  const showAccount = (): void => frame.showAccount(accounts.current?.email);
  accounts.addEventListener('change', showAccount);
  await accounts.dropEnded();
  showAccount();
  return { db, root, server, visitor, people, accounts, cities: new CityImport(server), say };
}

await start();
