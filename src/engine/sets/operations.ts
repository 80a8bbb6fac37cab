/** Shapes and readers of all sets. They delegate to the operation of the set. Spec: sets 4. */
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { SetOf, SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { Change } from './changes.ts';
import type {
  Access,
  ChangesRequest,
  Reading,
  SetOperation,
  Sets,
  SetShape,
  Shapes,
} from './operation.ts';
import { OPERATIONS } from './operation-table.ts';
import { joinTargets } from './operations/join.ts';
import { refAsSet } from './ref-as-set.ts';
import type { SetCursor, SetRequest, SetTarget } from './set-cursor.ts';

const operationOf = (target: SetTarget): SetOperation<SetTarget> =>
  target.kind === 'ref' ? refAsSet : OPERATIONS[target.op];

export class SetShapes implements Shapes {
  readonly schema: EngineContext['schema'];
  /** Cached, because each level of a nested set asks for the shapes of all sets below it. */
  private readonly shapes = new WeakMap<SetTarget, SetShape>();

  constructor({ schema }: Pick<EngineContext, 'schema'>) {
    this.schema = schema;
  }

  shapeOf(target: SetTarget): SetShape {
    const known = this.shapes.get(target);
    if (known) return known;
    const shape = operationOf(target).shape(target, this);
    this.shapes.set(target, shape);
    return shape;
  }

  showsRefs(target: SetTarget): boolean {
    return operationOf(target).showsRefs(target, this);
  }

  targetsOf(_join: SetOf<'join'>): readonly SetValue[] | undefined {
    return undefined;
  }
}

/** Shapes of sets that are being read: the target sets of joins by a lambda are known here. */
class ReadShapes extends SetShapes {
  private readonly sets: Sets;
  private readonly request: SetRequest;

  constructor(sets: Sets, request: SetRequest) {
    super(sets);
    this.sets = sets;
    this.request = request;
  }

  override targetsOf(join: SetOf<'join'>): readonly SetValue[] {
    return this.sets.joinedSets(join, this.request);
  }
}

export class SetReader extends SetShapes implements Sets {
  readonly context: EngineContext;
  readonly reading: Reading;
  private readonly joined = new Map<SetValue, readonly SetValue[]>();

  constructor(context: EngineContext, reading: Reading) {
    super(context);
    this.context = context;
    this.reading = reading;
  }

  accessTo(target: SetTarget): Access | undefined {
    return operationOf(target).access(target, this);
  }

  accessToSet(set: SetValue): Access<SetValue> | undefined {
    const operation: SetOperation<SetValue> = OPERATIONS[set.op];
    return operation.access(set, this);
  }

  open(target: SetTarget, request: SetRequest): SetCursor {
    requireWidth(this.context);
    this.context.meters.budget.spend(OPEN_WORK);
    return operationOf(target).open(target, request, this);
  }

  changesOf(target: SetTarget, request: ChangesRequest): readonly Change[] {
    return operationOf(target).changes(target, request, this);
  }

  readShapeOf(target: SetTarget, request: SetRequest): SetShape {
    return new ReadShapes(this, request).shapeOf(target);
  }

  joinedSets(join: SetOf<'join'>, request: SetRequest): readonly SetValue[] {
    const known = this.joined.get(join);
    if (known) return known;
    const targets = joinTargets(join, request, this);
    this.joined.set(join, targets);
    return targets;
  }
}

/** Units of work for opening a set. */
const OPEN_WORK = 5_000;

/** Limits the number of opened sets. A set can be much larger than its text, because members may be shared. */
function requireWidth({ meters }: EngineContext): void {
  meters.work.openedSets += 1;
  if (meters.work.openedSets <= LIMITS.setsMax) return;
  throw new Refusal(
    'bad request',
    `The query opens more than the limit of ${LIMITS.setsMax} sets.`,
  );
}
