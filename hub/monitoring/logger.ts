/** Structured logs. What a request carries is never logged: neither headers, nor bodies, nor query strings. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { hideSecretTexts } from '../../src/engine/access.ts';
import type { LogLevel } from '../settings/settings.ts';

export type { Logger } from 'pino';

/** JSON, one object a line: what callers wrote is escaped, so it can neither end a line nor colour a terminal. */
export function createLogger(
  level: LogLevel,
  destination: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorOf },
      redact: { paths: REDACTED, censor: '***' },
    },
    destination,
  );
}

/** Belt and braces: nobody logs these. */
const REDACTED = [
  'secret',
  'password',
  'authorization',
  '*.secret',
  '*.password',
  '*.authorization',
];

/** Messages of failures may quote what was asked. */
function errorOf(reason: unknown): object {
  if (!(reason instanceof Error)) return { message: hideSecretTexts(String(reason)) };
  const { name, message, stack, cause } = reason;
  return {
    type: name,
    message: hideSecretTexts(message),
    stack: hideSecretTexts(stack ?? ''),
    ...(cause !== undefined && { cause: errorOf(cause) }),
  };
}
