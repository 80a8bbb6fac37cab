import { expect, test } from 'vitest';
import { documentKey } from '../../codec/key.ts';
import type { LogRecord } from '../codec/log-record.ts';
import { FAMILY } from '../families.ts';
import { EMPTY_MANIFEST } from '../manifest.ts';
import { memtableRow } from './memtable.ts';
import { EMPTY_VERSION, versionWith } from './version.ts';

const key = documentKey(0, 1024, 1n);
const commitOf = (value: string): LogRecord => ({
  kind: 'commit',
  changes: [{ space: 'documents', key, row: { key, entries: [], value }, ended: [] }],
});

test('a commit that the tables contain is not put into the memtable, which would hide newer values of the tables', () => {
  const flip: LogRecord = { kind: 'flip', manifest: { ...EMPTY_MANIFEST, flushed: 3 } };
  const version = versionWith(EMPTY_VERSION, [
    { number: 1, record: commitOf('old') },
    // Records 2 and 3 were trimmed between two reads of the log.
    { number: 4, record: flip },
  ]);
  const valueIn = ({ layers: [newest] }: typeof version) =>
    newest && memtableRow(newest.memtable, FAMILY.documents, key)?.value;
  expect(valueIn(version)).toBeUndefined();
  const later = versionWith(version, [{ number: 5, record: commitOf('new') }]);
  expect(valueIn(later)).toBe('new');
  expect(later.committed).toBe(5);
});
