/** The outbox record of a new write. */
import type { Sha256 } from '../../../codec/sha256.ts';
import type { WriteNote } from '../../../answers.ts';
import type { QueryPlan } from '../../../engine/session.ts';
import { LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import { NO_WRITES } from '../../../store/port.ts';
import type { IdKey } from '../../protocol/device-ids.ts';
import { hashOf } from '../../protocol/digest.ts';
import type { PushItem } from '../../protocol/writes.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import { digestOfExecution, type LocalExecution } from '../view/local-execution.ts';
import type { WriteNumber } from './find-writes.ts';

interface NewWrite extends WriteNumber {
  readonly now: Micros;
  /** The key with which the write's ids were made. */
  readonly idKey: IdKey;
  /** Undefined: only the hub can execute the write. */
  readonly run: LocalExecution | undefined;
  readonly replaces: string | undefined;
  readonly note: WriteNote | undefined;
}

export function newRecord(plan: QueryPlan, write: NewWrite, sha256: Sha256): OutboxRecord {
  const { seq, era, now, idKey, run, replaces, note } = write;
  const { query, apiVersion } = plan.request;
  const ids = plan.inputs.madeIds.map(String);
  const digest = run && digestOfExecution(run, sha256);
  return {
    id: `${era}.${seq}`,
    era,
    item: { ...hashed({ seq, query, apiVersion, now, ids }, sha256), digest, idKey },
    state: 'local',
    at: plan.started,
    local: run && localAnswer(run),
    verdict: undefined,
    predicted: undefined,
    replaces,
    note,
    effects: run?.effects ?? NO_WRITES,
    reads: run?.reads ?? 'all',
    size: 0,
  };
}

/** Adds the hash, which depends on the number of the write. */
export const hashed = <T extends Omit<PushItem, 'hash' | 'digest' | 'idKey'>>(
  content: T,
  sha256: Sha256,
): T & Pick<PushItem, 'hash'> => ({ ...content, hash: hashOf(content, sha256) });

function localAnswer({ attempted }: LocalExecution): OutboxRecord['local'] {
  const { outcome } = attempted;
  if (!outcome.ok) return undefined;
  const body = `{"resource":${outcome.text}}`;
  if (body.length > LIMITS.verdictBytes) return undefined;
  return { status: outcome.created ? 201 : 200, body };
}
