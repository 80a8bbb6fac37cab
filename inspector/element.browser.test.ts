import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../in-process/testing.ts';
import { q } from '../src/index.ts';
import { mountInspector } from './inspector.ts';

test('nothing of a database is shown any more when it is locked', async () => {
  const db = await openDatabase();
  onTestFinished(() => db.close());
  await db.client().query(q.CreateCollection({ name: 'herons' }));
  const inspector = mountInspector(db);
  onTestFinished(() => inspector.remove());
  const shown = () => inspector.shadowRoot?.textContent;
  await expect.poll(shown).toContain('herons');
  await db.signOut();
  await expect.poll(shown).toContain('The database is locked');
  expect(shown()).not.toContain('herons');
});
