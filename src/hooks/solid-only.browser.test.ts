/** Hydration, which differs by framework. */
import { createComponent } from 'solid-js';
import { getNextElement, hydrate, insert, template } from 'solid-js/web';
import { expect, test } from 'vitest';
import { BurrowProvider, useQuery } from './solid.ts';
import { openNotes } from './testing/databases.ts';
import { SERVER_HTML } from './testing/solid-server-html.ts';

test('a page hydrates the HTML of a server', async () => {
  const { db, count: query } = await openNotes();
  let opened = 0;
  const database = () => {
    opened++;
    return db;
  };
  // The compiler's output for <p>{notes.isLoading ? 'loading' : `${notes.value} notes`}</p>.
  const paragraph = template('<p>');
  const Count = () => {
    const notes = useQuery(query);
    const element = getNextElement(paragraph);
    insert(element, () => (notes.isLoading ? 'loading' : `${notes.value} notes`));
    return element;
  };
  const place = document.createElement('div');
  place.innerHTML = SERVER_HTML;
  const server = place.querySelector('p');
  document.body.append(place);
  // The effect of the script from generateHydrationScript(), which is in the head of such a page.
  Reflect.set(globalThis, '_$HY', { events: [], completed: new WeakSet(), r: {} });
  const unmount = hydrate(
    () =>
      createComponent(BurrowProvider, {
        database,
        get children() {
          return createComponent(Count, {});
        },
      }),
    place,
  );
  try {
    expect(place.textContent).toBe('loading');
    await expect.poll(() => place.textContent).toBe('0 notes');
    expect([opened, place.querySelector('p') === server]).toEqual([1, true]);
  } finally {
    unmount();
    place.remove();
    Reflect.deleteProperty(globalThis, '_$HY');
  }
});
