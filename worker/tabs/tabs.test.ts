import { expect, test } from 'vitest';
import { Tabs } from './tabs.ts';

test('broadcast() after close() says nothing, and fails nobody whose work came to its end late', () => {
  const tabs = new Tabs('notes', () => undefined);
  tabs.broadcast({ type: 'locked' });
  tabs.close();
  expect(() => tabs.broadcast({ type: 'locked' })).not.toThrow();
});
