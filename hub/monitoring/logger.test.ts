/** A log whose disk is full. */
import fs, { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createLogger, linesTo } from './logger.ts';

test('a line for which the disk has no room is lost, and those after it are written', () => {
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
