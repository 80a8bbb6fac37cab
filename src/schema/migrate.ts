/**
 * Brings a database to a schema, in transactions of which each leads on from where the last has come. Each is done only where the record of
 * the schema is as it was read: several programs can migrate at once, and one that stops is followed by any other.
 */
import { isExpr } from '../client/queries/is-expr.ts';
import { BurrowError, q, UsageError, type Expr } from '../index.ts';
import type { DefinedSchema } from './define-schema.ts';
import type { Params } from './objects.ts';
import { isBuiltBeside, planOf, rebuiltIndexes, type SchemaChange } from './plan.ts';
import { differing, STRUCTURE } from './normal-form.ts';
import { SchemaRefused } from './refusal.ts';
import { requireKnown } from './require-known.ts';
import {
  createRecordCollection,
  isObject,
  nextName,
  readState,
  RECORD,
  refOf,
  type SchemaClient,
  type SchemaRecord,
  type State,
} from './state.ts';
import { pieceOf, type DataStep } from './steps.ts';

/** A database of the page, of `burrowdb/testing`, or a hub by `connect()`. */
export interface SchemaTarget {
  client(): SchemaClient;
}

export interface MigrateOptions {
  /** Of the schema, from 1: higher than that of the schema before. */
  readonly version: number;
  /** Changes of documents, by the version that they lead to. A database that was empty has no need of them. */
  readonly steps?: Readonly<Record<number, DataStep>>;
  /** Names of collections that may lose documents or history. */
  readonly allowLoss?: readonly string[];
  readonly onProgress?: (progress: MigrationProgress) => void;
}

export interface MigrationProgress {
  readonly phase: 'collections' | 'indexes' | 'roles' | 'step' | 'removal';
  /** The version whose data step it is. */
  readonly step?: number;
  /** How many documents the step has passed. */
  readonly documents?: number;
}

export interface Migration {
  /** What was applied before; 0: none. */
  readonly from: number;
  readonly to: number;
  readonly changes: readonly SchemaChange[];
}

/** Between two looks at an index that is being built, ms. */
const INDEX_MS = 50;

/**
 * Makes what a schema has and the database lacks, changes what differs, runs the data steps that are new, each once, and removes what an
 * earlier schema made and this one lacks. What no schema made is left alone. Needs an admin secret.
 * @throws SchemaRefused before anything is changed, when the database is ahead or data would be lost
 * @throws UsageError before anything is changed, when an option is wrong
 * @throws QueryError when a data step fails: what was done before it stays, and the next call goes on with it
 * @example
 * await migrate(db, defineSchema({ collections: { birds: {} } }), { version: 1 });
 * await client.query(q.Create('birds', { data: { name: 'heron' } }));
 */
export async function migrate(
  target: SchemaTarget,
  schema: DefinedSchema,
  options: MigrateOptions,
): Promise<Migration> {
  checkOptions(options);
  checkSchema(schema);
  const client = target.client();
  let first: Pick<Migration, 'from' | 'changes'> | undefined;
  for (;;) {
    const state = await readState(client, schema.objects);
    const changes = planOf(state);
    refuse(state, changes, options);
    first ??= { from: state.record?.version ?? 0, changes };
    const next = nextOf(state, options);
    if (next === undefined) return { ...first, to: options.version };
    if (next.progress) options.onProgress?.(next.progress);
    if (next.expression) await attempt(client, next.expression);
    else await new Promise((resolve) => setTimeout(resolve, INDEX_MS));
  }
}

/**
 * What `migrate()` would change.
 * @example
 * const plan = await planMigration(db, defineSchema({ collections: { birds: {} } }));
 * console.log(plan.map(({ text }) => text).join(' '));
 */
export async function planMigration(
  target: SchemaTarget,
  schema: DefinedSchema,
): Promise<readonly SchemaChange[]> {
  checkSchema(schema);
  return planOf(await readState(target.client(), schema.objects));
}

const OPTIONS = ['version', 'steps', 'allowLoss', 'onProgress'] satisfies (keyof MigrateOptions)[];

/** @throws UsageError */
function checkOptions(options: MigrateOptions): void {
  requireKnown(options, OPTIONS);
  const { version, steps = {}, allowLoss = [] } = options;
  requireKnown(steps);
  const versions = [version, ...Object.keys(steps).map(Number)];
  const isVersion = (each: number): boolean =>
    Number.isSafeInteger(each) && each >= 1 && each <= version;
  if (!versions.every(isVersion))
    throw new UsageError(
      `The option \`version\` must be a whole number from 1, and \`steps\` lead to versions up to it, but got ${String(versions.find((each) => !isVersion(each)))}.`,
    );
  if (!Array.isArray(allowLoss))
    throw new UsageError('The option `allowLoss` must be an array of names of collections.');
}

/** @throws UsageError */
function checkSchema(schema: Partial<DefinedSchema> | undefined): void {
  if (!schema?.objects) throw new UsageError('A schema is what defineSchema() gave.');
}

function refuse(
  { record, fingerprint }: State,
  changes: readonly SchemaChange[],
  { version, allowLoss = [] }: MigrateOptions,
): void {
  const reached = Math.max(record?.version ?? 0, record?.target ?? 0);
  if (reached > version)
    throw new SchemaRefused(
      'newer_schema',
      `The database has version ${reached} of its schema, this program has version ${version}: load the newer program.`,
    );
  if (record?.version === version && record.fingerprint !== fingerprint)
    throw new SchemaRefused(
      'version_not_raised',
      `The schema differs from the one that was applied as version ${version}: give the changed one a higher version.`,
      changes,
    );
  if (changes.some(({ name, loss }) => loss !== undefined && !allowLoss.includes(name)))
    throw new SchemaRefused(
      'data_loss',
      'Applying the schema would lose data. Name the collections in `allowLoss` if that is meant. The plan:',
      changes,
    );
}

interface Next {
  readonly progress?: MigrationProgress;
  /** Absent: wait. */
  readonly expression?: Expr;
}

function nextOf(state: State, options: MigrateOptions): Next | undefined {
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
  // What a migration that was given up has left.
  ![...state.stored.indexes.keys()].some((name) => isLeftBeside(state, name));

const isLeftBeside = (state: State, name: string): boolean =>
  !state.wanted.indexes.has(name) && !state.removed.indexes.includes(name);

/** Collections, roles without privileges (functions and others name them), and the record. */
function begin(state: State, { version }: MigrateOptions): Next | undefined {
  const { record, wanted, stored } = state;
  const changes = [
    ...saved(state, 'collections'),
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
/** They were checked where the schema was defined. */
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

/** `Update` merges objects: null removes what a schema leaves out. */
function inPlace(wanted: unknown, stored: unknown): unknown {
  if (!isPlain(wanted) || !isPlain(stored)) return wanted ?? null;
  const members = new Set([...Object.keys(stored), ...Object.keys(wanted)]);
  return Object.fromEntries(
    [...members].map((member) => [member, inPlace(wanted[member], stored[member])]),
  );
}

const isPlain = (value: unknown): value is Params => isObject(value) && !isExpr(value);

/** Indexes, those that are built anew beside the old, and functions. */
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

/** An index that was built beside another takes its name, and its place in roles, whoever made them. */
function rolesAndNames(state: State): Next | undefined {
  const rebuilt = [...rebuiltIndexes(state)];
  const swaps = rebuilt.flatMap((name) => [
    movedPrivileges(name),
    q.Delete(q.Index(name)),
    q.Update(q.Index(nextName(name)), { name }),
  ]);
  // Names lead to what had them before the transaction: roles follow in the next one.
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

/** What an earlier schema made and this one lacks; then the version is applied. */
function removal(state: State, { version, allowLoss = [] }: MigrateOptions): Next {
  const { removed, fingerprint, wanted } = state;
  const isAllowed = (name: string): boolean => allowLoss.includes(name);
  const changes = (['functions', 'roles', 'indexes', 'collections'] as const).flatMap((kind) =>
    removed[kind].map((name) =>
      kind === 'collections' && !isAllowed(name)
        ? // Written since the plan was made.
          q.If(
            q.IsEmpty(q.Documents(q.Collection(name))),
            q.Delete(q.Collection(name)),
            q.Abort(`Collection ${name} has documents: name it in allowLoss to remove it.`),
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

/** The changes with the record, which is written each time: that is what others see. */
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

/** One that met others is looked at anew, as is one that came too late. */
async function attempt(client: SchemaClient, expression: Expr): Promise<void> {
  try {
    await client.query(expression);
  } catch (reason) {
    if (!(reason instanceof BurrowError) || reason.code !== 'contended transaction') throw reason;
  }
}
