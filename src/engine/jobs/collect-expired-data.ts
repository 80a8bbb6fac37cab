/**
 * Removes expired data in the background, in many small commits. Each is complete in itself, so the work may stop at any point and start
 * again.
 */
import { type Key, LOWEST_KEY } from '../../codec/key.ts';
import type { Micros } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import type { TransactionBody } from '../transactions/execution.ts';
import { NOTHING_EXPIRED, SWEEPS, type Sweep, type SweepStep } from './expired-data.ts';
import { schemasOver } from '../catalog/schema.ts';
import { isCopy } from './is-copy.ts';
import { FIRST_ROWS, sizeAfter } from './step-size.ts';
import type { Transactor } from '../transactions/transactor.ts';

export class ExpiredDataCollector {
  private readonly transactor: Transactor;
  private readonly host: Pick<EngineOptions, 'pause' | 'view'>;
  /** The last commit at which nothing was left to remove. Nothing can expire until there is another commit. */
  private cleanAt: Micros | undefined = undefined;

  constructor(transactor: Transactor, host: Pick<EngineOptions, 'pause' | 'view'>) {
    this.transactor = transactor;
    this.host = host;
  }

  /** Resolves when no data is left that had expired at the last commit. @returns number of rows removed or rewritten */
  async collect(): Promise<number> {
    const start = await this.head();
    if (start === this.cleanAt) return 0;
    let removed = 0;
    for (const sweep of SWEEPS) {
      let from: Key | undefined = LOWEST_KEY;
      for (let size = FIRST_ROWS; from !== undefined;) {
        const step: SweepStep = await this.step(sweep, from, size);
        from = step.next;
        size = sizeAfter(step.bytes, size);
        removed += step.removed;
        await this.host.pause();
      }
    }
    this.cleanAt = removed === 0 ? start : undefined;
    return removed;
  }

  /** Executes a step as a read first, and as a write only if it found something: so an empty step does not delay writers. */
  private async step(sweep: Sweep, from: Key, size: number): Promise<SweepStep> {
    const body: TransactionBody<SweepStep> = ({ writer, head }) => {
      // In a copy of a hub's database only the hub removes data: the copy may lack part of the schema.
      const step = isCopy(this.host, writer)
        ? NOTHING_EXPIRED
        : sweep({ writer, schema: schemasOver(writer, writer.base), now: head }, from, size);
      return { value: step, ts: head + 1 };
    };
    const { value: found } = await this.transactor.read(body);
    return found.removed === 0 ? found : (await this.transactor.write(body)).value;
  }

  private async head(): Promise<Micros> {
    return (await this.transactor.read(({ head }) => ({ value: head }))).value;
  }
}
