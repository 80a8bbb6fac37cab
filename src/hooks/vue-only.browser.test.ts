/** Features that only Vue has: hydration, and scopes without a component. */
import {
  createApp,
  createSSRApp,
  defineComponent,
  effectScope,
  h,
  shallowRef,
  type App,
  type EffectScope,
} from 'vue';
import { renderToString } from 'vue/server-renderer';
import { afterEach, expect, test } from 'vitest';
import type { Database, Expr } from '../index.ts';
import { openNotes } from './testing/databases.ts';
import { provideBurrow, useQuery } from './vue.ts';

const apps: App[] = [];
afterEach(() => {
  for (const app of apps.splice(0)) app.unmount();
});

/** @param setup the setup function of a component below the providing one */
function appOf(create: typeof createApp, database: () => Database, setup: () => () => string): App {
  const Below = defineComponent(() => {
    const text = setup();
    return () => h('p', text());
  });
  return create(
    defineComponent(() => {
      provideBurrow({ database });
      return () => h(Below);
    }),
  );
}

const showing = (query: Expr<number>) => (): (() => string) => {
  const { value, isLoading } = useQuery(query);
  return () => (isLoading.value ? 'loading' : `${value.value} notes`);
};

test('a server renders the loading state without opening a database, and a page hydrates it', async () => {
  const { db, count } = await openNotes();
  let opened = 0;
  const database = () => {
    opened++;
    return db;
  };
  const html = await renderToString(appOf(createSSRApp, database, showing(count)));
  expect([html, opened]).toEqual(['<p>loading</p>', 0]);
  const place = document.createElement('div');
  place.innerHTML = html;
  const server = place.firstChild;
  const complaints: unknown[] = [];
  const app = appOf(createSSRApp, database, showing(count));
  apps.push(app);
  app.config.warnHandler = (complaint) => complaints.push(complaint);
  app.mount(place);
  await expect.poll(() => place.textContent).toBe('0 notes');
  expect([complaints, opened, place.firstChild === server]).toEqual([[], 1, true]);
});

test('a query follows a ref, and ends with its scope although its component stays mounted', async () => {
  const { db, count, live } = await openNotes();
  const asked = shallowRef<Expr<number>>();
  let scope: EffectScope | undefined = undefined;
  const place = document.createElement('div');
  const app = appOf(
    createApp,
    () => db,
    () => {
      scope = effectScope();
      return scope.run(() => {
        const { value } = useQuery(asked);
        return () => `${value.value ?? 'nothing'}`;
      }) as () => string;
    },
  );
  apps.push(app);
  app.mount(place);
  expect(place.textContent).toBe('nothing');
  asked.value = count;
  await expect.poll(() => place.textContent).toBe('0');
  expect(live()).toBe(1);
  (scope as EffectScope | undefined)?.stop();
  await expect.poll(live).toBe(0);
});
