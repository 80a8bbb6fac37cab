import { expect, test } from 'vitest';
import { Tabs } from './tabs.ts';

test('broadcast() after close() does nothing and does not throw', () => {
  const tabs = new Tabs('notes', () => undefined);
  tabs.broadcast({ type: 'locked' });
  tabs.close();
  expect(() => tabs.broadcast({ type: 'locked' })).not.toThrow();
});
