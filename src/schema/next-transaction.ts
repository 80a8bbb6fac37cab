/** Chooses the next transaction of a migration from the state of the database: the stages follow in their order. */
import { isExpr } from '../client/queries/is-expr.ts';
import { q, type Expr } from '../index.ts';
import type { MigrateOptions, MigrationProgress } from './migrate-options.ts';
import { differing, isObject, STRUCTURE } from './normal-form.ts';
import type { Params } from './objects.ts';
import { isBuiltBeside, planOf, rebuiltIndexes } from './plan.ts';
import {
  createRecordCollection,
  nextName,
  RECORD,
  refOf,
  type SchemaRecord,
  type State,
} from './state.ts';
import { pieceOf } from './steps.ts';

export interface Next {
  readonly progress?: MigrationProgress;
  /** Undefined: wait. */
  readonly expression?: Expr;
}

/** Undefined if the database has the schema. */
export function nextOf(state: State, options: MigrateOptions): Next | undefined {
  if (isDone(state, options)) return undefined;
  if (!state.hasCollection) return { expression: createRecordCollection };
  return (
    begin(state, options) ??
    objects(state) ??
    built(state) ??
    rolesAndNames(state) ??
    dataStep(state, options) ??
    removal(state, options)
  );
}

const isDone = (state: State, { version }: MigrateOptions): boolean =>
  state.record?.version === version &&
  state.record.target === version &&
  planOf(state).length === 0 &&
  // Indexes that an abandoned migration has left.
  ![...state.stored.indexes.keys()].some((name) => isLeftBeside(state, name));

const isLeftBeside = (state: State, name: string): boolean =>
  !state.wanted.indexes.has(name) && !state.removed.indexes.includes(name);

/**
 * Creates collections and the record, and roles without privileges: functions and other objects refer to roles. Permissions and data of a
 * collection may refer to a new one, so they are saved in the next transaction.
 */
function begin(state: State, { version }: MigrateOptions): Next | undefined {
  const { record, wanted, stored } = state;
  const missing = [...wanted.collections].filter(([name]) => !stored.collections.has(name));
  const created = missing.map(([name, params]) =>
    CREATE.collections({ ...params, permissions: null, data: null, name }),
  );
  const changes = [
    ...(created.length > 0 ? created : saved(state, 'collections')),
    ...[...wanted.roles.keys()]
      .filter((name) => !stored.roles.has(name))
      .map((name) => q.CreateRole({ name, privileges: [] })),
  ];
  if (changes.length === 0 && record?.target === version) return undefined;
  const isNew = !record && [...wanted.collections.keys()].every((n) => !stored.collections.has(n));
  const next: SchemaRecord = {
    version: record?.version ?? 0,
    fingerprint: record?.fingerprint ?? '',
    target: version,
    step: record?.step ?? (isNew ? version : 0),
    cursor: record?.cursor ?? null,
    began: record?.began ?? null,
    documents: record?.documents ?? 0,
    objects: {
      collections: namesOf(state, 'collections'),
      indexes: namesOf(state, 'indexes'),
      functions: namesOf(state, 'functions'),
      roles: namesOf(state, 'roles'),
    },
  };
  return { progress: { phase: 'collections' }, expression: guarded(state, changes, { ...next }) };
}

type ObjectKind = keyof typeof refOf;

const namesOf = ({ record, wanted }: State, kind: ObjectKind): readonly string[] => [
  ...new Set([...(record?.objects[kind] ?? []), ...wanted[kind].keys()]),
];

const CREATE = {
  collections: (params: Params) => q.CreateCollection(parameters(params)),
  indexes: (params: Params) => q.CreateIndex(parameters(params)),
  functions: (params: Params) => q.CreateFunction(parameters(params)),
  roles: (params: Params) => q.CreateRole(parameters(params)),
};
/** The parameters were checked when the schema was defined. */
const parameters = (params: Params): Expr<never> => q.Object(params) as Expr<never>;

function saved(state: State, kind: ObjectKind): readonly Expr[] {
  return [...state.wanted[kind]].flatMap(([name, wanted]): Expr[] => {
    const stored = state.stored[kind].get(name);
    if (!stored) return [CREATE[kind]({ ...wanted, name })];
    const members = differing(kind, wanted, stored);
    return members.length === 0 ? [] : [q.Update(refOf[kind](name), only(members, wanted, stored))];
  });
}

const only = (members: readonly string[], wanted: Params, stored: Params): Params =>
  Object.fromEntries(members.map((member) => [member, inPlace(wanted[member], stored[member])]));

/** The value for `Update`, which merges objects: members that the schema leaves out are null, which removes them. */
function inPlace(wanted: unknown, stored: unknown): unknown {
  if (!isPlain(wanted) || !isPlain(stored)) return wanted ?? null;
  const members = new Set([...Object.keys(stored), ...Object.keys(wanted)]);
  return Object.fromEntries(
    [...members].map((member) => [member, inPlace(wanted[member], stored[member])]),
  );
}

const isPlain = (value: unknown): value is Params => isObject(value) && !isExpr(value);

/** Creates and changes indexes and functions. An index that must be rebuilt is created beside the old one. */
function objects(state: State): Next | undefined {
  const rebuilt = rebuiltIndexes(state);
  const indexes = [...state.wanted.indexes].flatMap(([name, wanted]): Expr[] => {
    const stored = state.stored.indexes.get(name);
    if (!stored) return [CREATE.indexes({ ...wanted, name })];
    const beside = state.stored.indexes.has(nextName(name));
    const isBeside = isBuiltBeside(state, name);
    if (!rebuilt.has(name) || !isBeside) {
      if (beside) return [q.Delete(q.Index(nextName(name)))];
      if (rebuilt.has(name)) return [CREATE.indexes({ ...wanted, name: nextName(name) })];
    }
    const members = differing('indexes', wanted, stored).filter(
      (member) => !STRUCTURE.includes(member),
    );
    return rebuilt.has(name) || members.length === 0
      ? []
      : [q.Update(q.Index(name), only(members, wanted, stored))];
  });
  const changes = [...indexes, ...saved(state, 'functions')];
  if (changes.length === 0) return undefined;
  return { progress: { phase: 'indexes' }, expression: guarded(state, changes) };
}

function built({ wanted, stored }: State): Next | undefined {
  const isBuilt = [...wanted.indexes.keys()].every((name) =>
    [name, nextName(name)].every((each) => stored.indexes.get(each)?.['active'] !== false),
  );
  return isBuilt ? undefined : { progress: { phase: 'indexes' } };
}

/**
 * Gives an index that was built beside another one the other's name, and its place in the privileges of all roles, even of roles that no
 * schema created.
 */
function rolesAndNames(state: State): Next | undefined {
  const rebuilt = [...rebuiltIndexes(state)];
  const swaps = rebuilt.flatMap((name) => [
    movedPrivileges(name),
    q.Delete(q.Index(name)),
    q.Update(q.Index(nextName(name)), { name }),
  ]);
  // Within a transaction, a name refers to the object that had it before, so roles are saved in the next transaction.
  const changes = swaps.length > 0 ? swaps : saved(state, 'roles');
  if (changes.length === 0) return undefined;
  return { progress: { phase: 'roles' }, expression: guarded(state, changes) };
}

const ROLES_MAX = 1000;

const movedPrivileges = (name: string): Expr =>
  q.Foreach(
    q.Paginate(q.Roles(), { size: ROLES_MAX }),
    q.Lambda(
      'burrow_role',
      q.Let(
        { burrow_privileges: q.Select('privileges', q.Get(q.Var('burrow_role')), null) },
        q.If(
          q.IsArray(q.Var('burrow_privileges')),
          q.Update(q.Var('burrow_role'), {
            privileges: q.Map(
              q.Var('burrow_privileges'),
              q.Lambda('burrow_privilege', movedPrivilege(name)),
            ),
          }),
          q.If(
            q.IsObject(q.Var('burrow_privileges')),
            q.Update(q.Var('burrow_role'), {
              privileges: q.Let(
                { burrow_privilege: q.Var('burrow_privileges') },
                movedPrivilege(name),
              ),
            }),
            null,
          ),
        ),
      ),
    ),
  );

const movedPrivilege = (name: string): Expr =>
  q.If(
    q.Equals(q.Select('resource', q.Var('burrow_privilege'), null), q.Index(name)),
    q.Merge(q.Var('burrow_privilege'), { resource: q.Index(nextName(name)) }),
    q.Var('burrow_privilege'),
  );

function dataStep(state: State, { steps = {}, version }: MigrateOptions): Next | undefined {
  const { record } = state;
  if (!record) return undefined;
  const at = Object.keys(steps)
    .map(Number)
    .toSorted((one, other) => one - other)
    .find((each) => each > record.step && each <= version);
  const step = at === undefined ? undefined : steps[at];
  if (at === undefined || step === undefined) return undefined;
  const progress: MigrationProgress = { phase: 'step', step: at, documents: record.documents };
  return { progress, expression: ifUnchanged(state, pieceOf(step, at, record)) };
}

/** Removes what an earlier schema created and this schema lacks, and records that the version is applied. */
function removal(state: State, { version, allowLoss = [] }: MigrateOptions): Next {
  const { removed, fingerprint, wanted } = state;
  const isAllowed = (name: string): boolean => allowLoss.includes(name);
  const changes = (['functions', 'roles', 'indexes', 'collections'] as const).flatMap((kind) =>
    removed[kind].map((name) =>
      kind === 'collections' && !isAllowed(name)
        ? // Documents may have been written since the plan was made.
          q.If(
            q.IsEmpty(q.Documents(q.Collection(name))),
            q.Delete(q.Collection(name)),
            q.Abort(`Collection ${name} has documents: name it in \`allowLoss\` to remove it.`),
          )
        : q.If(q.Exists(refOf[kind](name)), q.Delete(refOf[kind](name)), null),
    ),
  );
  return {
    progress: { phase: 'removal' },
    expression: guarded(state, changes, {
      version,
      target: version,
      fingerprint,
      step: version,
      objects: {
        collections: [...wanted.collections.keys()],
        indexes: [...wanted.indexes.keys()],
        functions: [...wanted.functions.keys()],
        roles: [...wanted.roles.keys()],
      },
    }),
  };
}

/** The changes, together with a write of the record: concurrent migrations notice a change by its time. */
const guarded = (state: State, changes: readonly Expr[], data: Params = {}): Expr =>
  ifUnchanged(
    state,
    q.Do(
      [...changes],
      state.record ? q.Update(RECORD, { data }) : q.Create(RECORD, { data }),
      true,
    ),
  );

const ifUnchanged = ({ ts }: State, changes: Expr): Expr =>
  q.If(
    ts === undefined ? q.Not(q.Exists(RECORD)) : q.Equals(q.Select('ts', q.Get(RECORD)), ts),
    changes,
    false,
  );
