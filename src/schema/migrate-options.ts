import { isExpr } from '../client/queries/is-expr.ts';
import { UsageError } from '../index.ts';
import { requireKnown, requireObject } from './require-known.ts';
import type { DataStep, EachDocument } from './steps.ts';

export interface MigrateOptions {
  /** Version of the schema, from 1: higher than that of the schema before. */
  readonly version: number;
  /** Data steps, each under the version that it leads to. A new database skips them. */
  readonly steps?: Readonly<Record<number, DataStep>>;
  /** Names of collections that may lose documents or history. */
  readonly allowLoss?: readonly string[];
  readonly onProgress?: (progress: MigrationProgress) => void;
}

export interface MigrationProgress {
  readonly phase: 'collections' | 'indexes' | 'roles' | 'step' | 'removal';
  /** The version whose data step runs. */
  readonly step?: number;
  /** How many documents the step has processed. */
  readonly documents?: number;
}

const OPTIONS = ['version', 'steps', 'allowLoss', 'onProgress'] satisfies (keyof MigrateOptions)[];

/** @throws UsageError */
export function checkOptions(options: MigrateOptions): void {
  requireKnown(options, OPTIONS);
  const { version, steps = {}, allowLoss = [] } = options;
  requireObject(steps, 'steps');
  const versions = [version, ...Object.keys(steps).map(Number)];
  const isVersion = (each: number): boolean =>
    Number.isSafeInteger(each) && each >= 1 && each <= version;
  const wrong: unknown = versions.find((each) => !isVersion(each));
  if (!versions.every(isVersion))
    throw new UsageError(
      `The option \`version\` must be a whole number from 1, and \`steps\` lead to versions up to it, but got ${typeof wrong === 'string' ? JSON.stringify(wrong) : String(wrong)}.`,
    );
  for (const [name, step] of Object.entries(steps))
    if (!isStep(step))
      throw new UsageError(
        `The step to version ${name} must be an expression of \`q\`, or what \`each()\` of the schema gave for a function.`,
      );
  if (!Array.isArray(allowLoss))
    throw new UsageError('The option `allowLoss` must be an array of names of collections.');
}

function isStep(step: unknown): boolean {
  const { collection, write } = (step ?? {}) as Partial<EachDocument>;
  return isExpr(step) || (typeof collection === 'string' && typeof write === 'function');
}
