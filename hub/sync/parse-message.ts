/** Parses messages of devices as JSON. */
import type { SyncRefusal } from '../../src/sync/protocol/refusals.ts';

export const NOT_JSON = Symbol('not JSON');
export const INVALID_JSON: SyncRefusal = {
  code: 'bad_message',
  description: 'The message is not valid JSON.',
};

export function parseMessage(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return NOT_JSON;
  }
}
