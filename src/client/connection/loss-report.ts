import type { LossData } from '../../host/open.ts';

export interface LossReport extends LossData {
  /** `kind` and `lastCommit` as a sentence. */
  readonly description: string;
}

export function lossReport({ kind, lastCommit }: LossData): LossReport {
  const until = lastCommit?.toISOString();
  const known = until === undefined ? '' : ` The last known commit was at ${until}.`;
  const description =
    kind === 'recreated'
      ? `All data of this database is lost: the browser deleted it or lost its files.${known} The database is now empty.`
      : `The browser reverted this database to an earlier state. Commits up to ${until} are missing.`;
  return { kind, lastCommit, description };
}
