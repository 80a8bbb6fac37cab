/** Counts how often rows of the outbox are parsed, because there may be thousands. */
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
