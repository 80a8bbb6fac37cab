/**
 * The context that the nodes of an evaluation share. `at`, lambdas of other API versions and functions with their own
 * session derive a changed one.
 */
import { fail } from '../errors.ts';
import type { Lambda, Value } from '../values/value.ts';
import type { Contexts } from './define.ts';
import { EFFECT_RANK, type Effect } from './effect.ts';
import type { Frame } from './frame.ts';
import { LambdaValue } from './lambda-value.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { LambdaNode, NodeOf } from './node.ts';
import { positionOf } from './query-path.ts';
import type { ApiVersion, ReadTime, WriteSession } from './session.ts';

/** The limits of one evaluation. */
export interface EvaluateOptions {
  /** The strongest allowed effect. Default: `write`. */
  readonly allows?: Effect;
  /** The place in the message "…, which is not allowed in <place>." */
  readonly placeName?: string | undefined;
  /** The time that reads see. Default: the present. */
  readonly time?: ReadTime;
}

export class Evaluation {
  readonly session: WriteSession;
  readonly memory: MemoryBudget;
  readonly apiVersion: ApiVersion;
  readonly time: ReadTime;
  private readonly options: EvaluateOptions;
  private readonly allows: number;

  constructor(session: WriteSession, apiVersion: ApiVersion, options: EvaluateOptions) {
    this.session = session;
    this.memory = session.memory;
    this.apiVersion = apiVersion;
    this.options = options;
    this.time = options.time ?? 'present';
    this.allows = EFFECT_RANK[options.allows ?? 'write'];
  }

  at(time: ReadTime): Evaluation {
    return new Evaluation(this.session, this.apiVersion, { ...this.options, time });
  }

  inVersion(apiVersion: ApiVersion): Evaluation {
    return apiVersion === this.apiVersion
      ? this
      : new Evaluation(this.session, apiVersion, this.options);
  }

  inSession(session: WriteSession): Evaluation {
    return session === this.session ? this : new Evaluation(session, this.apiVersion, this.options);
  }

  /** @throws QueryFailure `invalid expression` when the effect of the function is not allowed here */
  checkEffect(node: NodeOf<'call'>): void {
    if (ROW_RANK[node.row.effect] > this.allows) this.refuseEffect(node);
  }

  /** Takes memory for the result of a function. */
  takeResult(value: Value): void {
    if (typeof value === 'string') this.memory.takeText(value);
    else if (typeof value === 'object' && value !== null) this.memory.takeValue(value);
  }

  closeOver(lambda: LambdaNode, scope: Frame): Lambda {
    if (lambda.free.length > 0) this.memory.pin();
    return new LambdaValue(lambda, { scope, session: this.session });
  }

  /**
   * Without `placeName`, the message for a write must stay as it is: client programs compare it. This is the case for
   * the query of a stream.
   */
  private refuseEffect(node: NodeOf<'call'>): never {
    const what = node.row.effect === 'write' ? 'a write' : 'a read';
    const { placeName } = this.options;
    return fail(
      'invalid expression',
      positionOf(node.path),
      placeName === undefined && what === 'a write'
        ? 'Write effect in read-only query expression.'
        : `Call performs ${what}, which is not allowed in ${placeName ?? 'this place'}.`,
    );
  }
}

/** The effect that is checked when a row is evaluated. */
const ROW_RANK = {
  pure: EFFECT_RANK.pure,
  'pure-reads': EFFECT_RANK.pure,
  read: EFFECT_RANK.read,
  write: EFFECT_RANK.write,
} as const satisfies Record<keyof Contexts, number>;
