/**
 * A short version of `npm run bench:crowd`: idle devices, and commits that concern some of them. Checks that no hint is missed;
 * its times mean nothing.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const DEVICES = 60;
const ROOMS = 6;

test(`${DEVICES} devices receive each commit of their room and hold the same as a fresh read`, async () => {
  const options = { devices: DEVICES, rooms: ROOMS, seconds: 2, commits: 30 };
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const program = join(import.meta.dirname, '../bench/crowd.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...flags]);
  const row = stdout.split('\n').find((line) => line.startsWith('{'));
  const found = JSON.parse(row ?? '{}') as Record<string, number>;
  expect(found).toMatchObject({
    devices: DEVICES,
    'never arrived': 0,
    'rooms whose devices differ, or from a fresh read': 0,
    'rooms with notes missing': 0,
  });
  expect(found['hints']).toBeGreaterThan(0);
  // The hint already contained the change, so the device needed no pull.
  expect(found['of which brought the change']).toBe(found['hints']);
});
