/** A log whose disk is full, and a log that a flood of refusals would fill. */
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createLogger, linesTo } from './logger.ts';

afterEach(() => vi.useRealTimers());

test('a log line is lost if the disk is full, and later lines are written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'burrow-log-'));
  const file = join(folder, 'log');
  const fd = openSync(file, 'a');
  const disk = vi.spyOn(fs, 'writeSync');
  try {
    const logger = createLogger('info', linesTo(fd));
    logger.info('first');
    disk.mockImplementationOnce(() => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    });
    logger.info('lost');
    logger.info('last');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'first',
      'last',
    ]);
  } finally {
    disk.mockRestore();
    closeSync(fd);
    rmSync(folder, { recursive: true });
  }
});

interface Line {
  readonly msg: string;
  readonly status?: number;
  readonly address?: string;
  readonly leftOut?: number;
}

/** A log in memory at this level. */
function openLog(level: 'info' | 'debug') {
  const lines: Line[] = [];
  const logger = createLogger(level, { write: (line) => lines.push(JSON.parse(line) as Line) });
  const refuse = (address: string, status = 429): void =>
    logger.warn({ status, address }, 'answered');
  return { logger, lines, refuse };
}

test('a flood of refusals writes few lines and the number of omitted ones; other lines are written too', () => {
  vi.useFakeTimers();
  const { logger, lines, refuse } = openLog('info');
  for (let i = 0; i < 10_000; i += 1) refuse('10.0.0.1');
  refuse('10.0.0.2');
  refuse('10.0.0.1', 403);
  expect(lines.filter(({ address }) => address === '10.0.0.1').length).toBeLessThan(50);
  expect(lines.slice(-2)).toMatchObject([{ address: '10.0.0.2' }, { status: 403 }]);
  for (let i = 0; i < 10_000; i += 1) refuse(`10.1.${i >> 8}.${i & 255}`);
  expect(lines.length).toBeLessThan(200);
  for (let i = 0; i < 10_000; i += 1) logger.error({ err: new Error('no') }, 'failed');
  expect(lines.length).toBeLessThan(300);
  const written = lines.length;
  vi.advanceTimersByTime(60_000);
  expect(lines.slice(written)).toMatchObject([
    { msg: 'lines were left out', leftOut: 30_002 - written },
  ]);
  refuse('10.0.0.1');
  expect(lines.at(-1)).toMatchObject({ address: '10.0.0.1' });
  vi.advanceTimersByTime(60_000);
  expect(lines).toHaveLength(written + 2);
});

test('with the level that logs each request, each refusal is logged', () => {
  const { lines, refuse } = openLog('debug');
  for (let i = 0; i < 1000; i += 1) refuse('10.0.0.1');
  expect(lines).toHaveLength(1000);
});
