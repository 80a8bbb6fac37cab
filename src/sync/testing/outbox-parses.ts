/** Counts how often a row of an outbox is parsed: thousands may wait. */
import { vi } from 'vitest';

const OUTBOX_ROW = /^\{"id":"\d+\.\d+","era":/;

export async function outboxParsesIn(work: () => Promise<unknown>): Promise<number> {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    await work();
    return parse.mock.calls.filter(([text]) => OUTBOX_ROW.test(text)).length;
  } finally {
    parse.mockRestore();
  }
}
