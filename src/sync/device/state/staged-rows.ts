/** Rows with the parts of a pull. They are not shown until the last part has come. */
import { syncKey } from '../../../codec/key.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import type { Pulled } from '../../protocol/messages.ts';
import type { ReplicaState } from './replica-state.ts';

const stagedAddress = (part: number): RowAddress => ({
  space: 'sync',
  key: syncKey('staged', part),
});

export const stagedRow = (part: number, pulled: Pulled): Row => ({
  key: stagedAddress(part).key,
  entries: [],
  value: JSON.stringify(pulled),
});

/** The cast is safe, because only `stagedRow` makes such rows. @throws Suspended */
export function readStaged(reader: Reader, part: number): Pulled {
  const row = reader.row(stagedAddress(part));
  if (!row) throw new Error(`The stored part ${part} of a pull is missing.`);
  return JSON.parse(String(row.value)) as Pulled;
}

export function dropStaged(writer: Writer, { staged }: Pick<ReplicaState, 'staged'>): void {
  for (let part = 0; part < (staged?.parts ?? 0); part++)
    writer.delete('sync', stagedAddress(part).key);
}
