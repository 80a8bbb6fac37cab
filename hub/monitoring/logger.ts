/** Structured logs. Contents of requests (headers, bodies, query strings) are never logged. */
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { hideSecretTexts } from '../../src/engine/access.ts';
import type { LogLevel } from '../settings/settings-table.ts';
import { LineLimits } from './line-limits.ts';

export type { Logger } from 'pino';

/**
 * Writes one JSON object per line. Text from callers is escaped, so it can neither end a line nor send control codes to a
 * terminal.
 */
export function createLogger(level: LogLevel, destination: DestinationStream = linesTo(2)): Logger {
  let limits: LineLimits | undefined;
  const logger: Logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorOf },
      redact: { paths: REDACTED, censor: '***' },
      hooks: { logMethod: boundedBy(() => limits) },
    },
    destination,
  );
  // No limits at level debug: an operator who wants a line for each request also wants one for each refused request.
  if (!logger.isLevelEnabled('debug'))
    limits = new LineLimits((leftOut) => logger.warn({ leftOut }, 'lines were left out'));
  return logger;
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

/** pino's number for this level. */
const WARN = 40;

const boundedBy = (limitsOf: () => LineLimits | undefined): LogMethod =>
  function log(given, write, level) {
    const limits = level >= WARN ? limitsOf() : undefined;
    if (!limits || limits.takes(...kindOf(given))) write.apply(this, given);
  };

/** Lines with the same text and status are of one kind. */
function kindOf(given: readonly unknown[]): Parameters<LineLimits['takes']> {
  const [first] = given;
  const { status, address }: About = typeof first === 'object' && first !== null ? first : {};
  return [`${String(given.at(-1))} ${status ?? ''}`, address];
}

interface About {
  readonly status?: number;
  readonly address?: string;
}

/** A second safeguard: no code logs these on purpose. */
const REDACTED = [
  'secret',
  'password',
  'authorization',
  '*.secret',
  '*.password',
  '*.authorization',
];

/** Hides secrets: messages of errors may quote queries. */
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

/**
 * A line that cannot be written, for example because the disk is full, is dropped: pino would keep it in memory and hold back all
 * later lines.
 */
export function linesTo(fd: number): DestinationStream {
  const open = (): DestinationStream =>
    pino.destination({ fd, sync: true }).on('error', () => (lines = open()));
  let lines = open();
  return { write: (line) => lines.write(line) };
}
