/** Test kit: collects everything that `salvage()` yields. */
import type { Row, Space } from '../../store/port.ts';
import { salvage, type SalvagedRows } from '../salvage.ts';
import { createMemoryMedium, type MediumData } from './memory-medium.ts';

export interface Salvaged {
  readonly batches: readonly SalvagedRows[];
  readonly damaged: readonly string[];
  rows(space: Space): Row[];
}

export async function salvaged(data: MediumData): Promise<Salvaged> {
  const batches: SalvagedRows[] = [];
  const damaged: string[] = [];
  for await (const batch of salvage(createMemoryMedium(data), (what) => damaged.push(what)))
    batches.push(batch);
  const rows = (space: Space): Row[] =>
    batches.flatMap((batch) => (batch.space === space ? batch.rows : []));
  return { batches, damaged, rows };
}
