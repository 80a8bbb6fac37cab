/** What stays the same while a query is evaluated, but for `at` and lambdas of other versions. */
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

/** What limits one evaluation. */
export interface EvaluateOptions {
  /** `write` when left out. */
  readonly allows?: Effect;
  /** Words for "…, which is not allowed in <place>." */
  readonly placeName?: string | undefined;
  /** What reads see; the present when left out. */
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

  /** @throws QueryFailure `invalid expression` when the row does more than is allowed here */
  checkEffect(node: NodeOf<'call'>): void {
    if (ROW_RANK[node.row.effect] > this.allows) this.refuseEffect(node);
  }

  /** What a function made. */
  takeResult(value: Value): void {
    if (typeof value === 'string') this.memory.takeText(value);
    else if (typeof value === 'object' && value !== null) this.memory.takeValue(value);
  }

  closeOver(lambda: LambdaNode, scope: Frame): Lambda {
    if (lambda.free.length > 0) this.memory.pin();
    return new LambdaValue(lambda, { scope, session: this.session });
  }

  /** Programs compare what is said of a write where no place is named: in the query of a stream. */
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

/** What a row may do when it is evaluated. */
const ROW_RANK = {
  pure: EFFECT_RANK.pure,
  'pure-reads': EFFECT_RANK.pure,
  read: EFFECT_RANK.read,
  write: EFFECT_RANK.write,
} as const satisfies Record<keyof Contexts, number>;
