/** A session over the context of one query: the engine's operations for functions of the query language. */
import { MemoryBudget } from '../../query/memory-budget.ts';
import type { QueryPath } from '../../query/query-path.ts';
import type { ApiVersion, PageOptions, ReadTime, WriteSession } from '../../query/session.ts';
import { isKind } from '../../values/value.ts';
import type {
  DatabaseId,
  Document,
  Lambda,
  Micros,
  PendingTime,
  Ref,
  SetValue,
  Value,
} from '../../values/value.ts';
import { applyLambda } from '../../query/evaluate.ts';
import { databaseOf } from '../../query/lambda-value.ts';
import { IsolatedBudget, type Steps } from '../context/budget.ts';
import type { Permissions } from '../context/access-request.ts';
import {
  createContext,
  type ApplyIsolated,
  type ContextParts,
  type EngineContext,
  type IsolatedParts,
  type Lambdas,
  type PermissionsIn,
} from '../context/context.ts';
import { documentExists, failNothing, getDocument } from '../documents/documents.ts';
import { functionBody } from '../access/function-body.ts';
import { CallerIdentity, selfIn } from './identity.ts';
import { IsolatedMeters } from '../context/meters.ts';
import { ContextNames } from '../catalog/names.ts';
import { requireIndex } from '../catalog/require-index.ts';
import { elements, firstRef, paginate, setContains } from '../sets/pages.ts';
import { SetShapes } from '../sets/operations.ts';
import { DocumentWrites } from '../writes/writes.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

type Target = Ref | SetValue;

/** Refs of native collections denote the set of their members. */
const isDocumentRef = (target: Target): target is Ref =>
  isKind(target, 'ref') && !isNativeCollectionRef(target);

/** A session creates its own context, because each refers to the other. */
export class EngineSession implements WriteSession, Lambdas {
  readonly snapshot: Micros;
  readonly pendingTs: Micros;
  readonly apiVersion: ApiVersion;
  readonly names: ContextNames;
  readonly context: EngineContext;
  readonly memory: MemoryBudget;
  readonly auth: CallerIdentity;
  readonly writes: DocumentWrites;
  private readonly budget: Steps;
  /** Session of another database, cached because its lambdas are applied to many elements. */
  private away: EngineSession | undefined = undefined;
  /** Made when a query first combines sets. Shapes are kept, because each level of nested sets asks for those of all sets below it. */
  private shapes: SetShapes | undefined = undefined;

  /** @param shared parts taken over from the session that this one is derived from */
  constructor(
    parts: ContextParts,
    permissionsIn: PermissionsIn,
    budget: Steps,
    shared?: Partial<Pick<EngineSession, 'memory' | 'names'>>,
  ) {
    this.snapshot = parts.now ?? parts.snapshot;
    this.pendingTs = parts.commitTs;
    this.apiVersion = parts.apiVersion;
    this.budget = budget;
    this.memory = shared?.memory ?? new MemoryBudget(budget);
    this.context = createContext(parts, permissionsIn, this);
    this.names = shared?.names ?? new ContextNames(this.context);
    this.auth = new CallerIdentity(this.context);
    this.writes = new DocumentWrites(this.context, this.names.database);
  }

  // --- function values ----------------------------------------------------------------------------

  apply(lambda: Lambda, argument: Value, allows: 'pure' | 'read', time?: ReadTime): Value {
    const home = databaseOf(lambda) ?? this.names.database;
    const session = home === this.names.database ? this : this.elsewhere(home);
    return applyLambda(lambda, argument, session, { allows, time: time ?? 'present' });
  }

  isolated({ permissions, reader, schema, database }: IsolatedParts): ApplyIsolated {
    const { context } = this;
    const steps = new IsolatedBudget(this.budget);
    const meters = new IsolatedMeters(this.budget);
    const parts: ContextParts = {
      reader: reader ?? context.reader,
      writer: undefined,
      snapshot: context.snapshot,
      // Permissions are evaluated at present, also for a query that was made elsewhere with its own `Now()`.
      now: undefined,
      commitTs: context.commitTs,
      apiVersion: context.apiVersion,
      caller: context.caller,
      inputs: context.inputs,
      meters,
      schema: schema ?? context.schema,
      rewritten: context.rewritten,
      atEnd: context.atEnd,
    };
    const names = new ContextNames({ ...parts, database });
    const session = new EngineSession(parts, () => permissions, steps, { names });
    return (lambda, argument) => {
      steps.begin();
      session.memory.clear();
      meters.begin();
      return session.apply(lambda, argument, 'read');
    };
  }

  // --- reads --------------------------------------------------------------------------------------

  seenAt(ts: Micros | PendingTime): ReadTime {
    const { snapshot, context } = this;
    if (typeof ts !== 'number' || ts > snapshot) return 'present';
    context.meters.past = Math.max(context.meters.past, ts);
    return ts < snapshot ? ts : 'present';
  }

  charge(steps: number): void {
    this.budget.charge(steps);
  }

  spend(units: number): void {
    this.budget.spend(units);
  }

  self(collection: Ref): Ref | undefined {
    return selfIn(this.context, collection);
  }

  get(target: Target, time: ReadTime, path: QueryPath): Document {
    if (isDocumentRef(target)) return getDocument(this.context, target, time, path);
    const ref = firstRef(this.context, target, time, path, 'get');
    if (!ref) return failNothing(this.context, target, path);
    return getDocument(this.context, ref, time, path);
  }

  exists(target: Target, time: ReadTime, path: QueryPath): boolean {
    if (isDocumentRef(target)) return documentExists(this.context, target, time);
    return firstRef(this.context, target, time, path, 'exists') !== undefined;
  }

  paginate(target: Target, options: PageOptions, path: QueryPath) {
    return paginate(this.context, target, options, path);
  }

  elements(set: Target, time: ReadTime, path: QueryPath, key: string): Iterable<Value> {
    return elements(this.context, set, time, path, key);
  }

  setContains(set: Target, value: Value, time: ReadTime, path: QueryPath): boolean {
    return setContains(this.context, set, value, time, path);
  }

  requireIndex(nameOrRef: string | Ref, path: QueryPath): Ref {
    return requireIndex(this.context.schema, this.names, nameOrRef, path);
  }

  shapeOf(set: Target) {
    return (this.shapes ??= new SetShapes(this.context)).shapeOf(set);
  }

  functionBody(nameOrRef: string | Ref, argument: Value, path: QueryPath) {
    const home = this.names.database;
    const called = functionBody(this.context, home, nameOrRef, argument, path);
    const { lambda, permissions, database } = called;
    const isOwn = database === home && !permissions;
    return { lambda, session: isOwn ? this : this.within(database, permissions) };
  }

  newId(): string {
    return String(this.context.inputs.newId());
  }

  private elsewhere(database: DatabaseId): EngineSession {
    if (this.away?.names.database !== database) this.away = this.within(database, undefined);
    return this.away;
  }

  /**
   * A session of the same query in another database, with other permissions if given. A time or ids that came with the query are used only
   * under the caller's own permissions.
   */
  private within(database: DatabaseId, permissions: Permissions | undefined): EngineSession {
    const { context, budget, memory } = this;
    if (permissions) context.meters.hasOtherRights = true;
    const parts = permissions && context.now !== undefined ? withOwnInputs(context) : context;
    const { names } = this;
    const own = database === names.database ? names : names.within(database);
    const permissionsIn = (): Permissions => permissions ?? context.permissions;
    return new EngineSession(parts, permissionsIn, budget, { memory, names: own });
  }
}

const withOwnInputs = (context: EngineContext): EngineContext => {
  const { inputs } = context;
  return { ...context, now: undefined, inputs: { ...inputs, newId: inputs.newOwnId } };
};
