import { Refusal } from '../../errors.ts';
import type { EngineOptions } from '../context/host.ts';
import type { BodyInput } from '../transactions/execution.ts';

/** Whether the store is a copy of a hub's database, which may lack part of the schema. */
export function isCopy(
  { view }: Pick<EngineOptions, 'view'>,
  writer: BodyInput['writer'],
): boolean {
  try {
    return view !== undefined && view.over(writer, []) !== writer;
  } catch (reason) {
    if (reason instanceof Refusal && reason.code === 'locked') return true;
    throw reason;
  }
}
