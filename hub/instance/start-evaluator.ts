/** Starts a thread for long queries: `hub/evaluator-thread.ts`, which is bundled next to the hub. */
import { Worker } from 'node:worker_threads';
import type { Evaluator } from '../evaluators/supervised-thread.ts';
import { QueryMarks } from '../evaluators/query-marks.ts';
import type { StoreAccess, StoreLoan } from '../store/open-store.ts';
import type { EngineSettings } from './hub-engine.ts';

export interface EvaluatorData {
  readonly settings: EngineSettings;
  readonly url: string | undefined;
  readonly rootHash: string | undefined;
  readonly access: StoreAccess;
  /** The memory of `QueryMarks`. */
  readonly marks: SharedArrayBuffer;
}

/** A query that needs more memory ends its own thread and no other. */
const HEAP_MB = 1024;

export function startEvaluator(
  parts: Pick<EvaluatorData, 'settings' | 'url' | 'rootHash'>,
  loan: StoreLoan,
  report: (reason: unknown) => void,
): Evaluator {
  const { access } = loan;
  const marks = new QueryMarks();
  const workerData: EvaluatorData = { ...parts, access, marks: marks.buffer };
  const end = (): void => void loan.end().catch(report);
  let worker: Worker;
  try {
    worker = new Worker(new URL('./evaluator-thread.mjs', import.meta.url), {
      workerData,
      transferList: 'port' in access ? [access.port] : [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
  } catch (reason) {
    end();
    throw reason;
  }
  worker.once('exit', end);
  return { worker, marks };
}
