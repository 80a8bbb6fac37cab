/** Test kit: the transactions of the history test as queries. */
import type { Step } from './history-checker.ts';

type Query = unknown;

const object = (fields: Record<string, Query>): Query => ({ object: fields });
const refTo = (collection: string, id: number): Query => ({
  ref: { collection },
  id: String(id),
});
const text = (query: Query): string => JSON.stringify(query);
/** Made from text, because an object literal with a member `then` looks like a promise. */
const branch = (condition: Query, yes: Query, no: Query): Query =>
  JSON.parse(`{"if":${text(condition)},"then":${text(yes)},"else":${text(no)}}`);

const dataOf = (field: string, ref: Query): Query => ({
  select: ['data', field],
  from: { get: ref },
});
const withData = (data: Record<string, Query>): Query => object({ data: object(data) });

export const LISTS = 'lists';
const ACCOUNTS = 'accounts';
const REGISTERS = 'registers';
const NAMES = 'names';

export const ACCOUNT_COUNT = 8;
export const ACCOUNT_START = 100;

/** Must be run one after the other: each query uses what the previous ones have created. */
export const setUp: readonly Query[] = [
  ...[LISTS, ACCOUNTS, REGISTERS, NAMES].map((name) => ({ create_collection: object({ name }) })),
  {
    create_index: object({
      name: 'by_name',
      source: { collection: NAMES },
      terms: [object({ field: ['data', 'name'] })],
      unique: true,
    }),
  },
  Array.from({ length: ACCOUNT_COUNT }, (_, i) => ({
    create: refTo(ACCOUNTS, i + 1),
    params: withData({ balance: ACCOUNT_START }),
  })),
];

/** A planned step of a transaction, without what a read will find. */
export type PlannedStep =
  | { readonly kind: 'append'; readonly key: number; readonly value: number }
  | { readonly kind: 'read'; readonly key: number };

export const listTransaction = (steps: readonly PlannedStep[]): Query =>
  steps.map((step) => {
    const ref = refTo(LISTS, step.key);
    const isThere = { exists: ref };
    if (step.kind === 'read') return branch(isThere, dataOf('values', ref), []);
    const values = { append: [step.value], collection: dataOf('values', ref) };
    return branch(
      isThere,
      { do: [{ update: ref, params: withData({ values }) }, true] },
      { do: [{ create: ref, params: withData({ values: [step.value] }) }, true] },
    );
  });

/** @param answers the answers to the query above */
export const stepsSeen = (
  planned: readonly PlannedStep[],
  answers: readonly unknown[] | undefined,
): readonly Step[] =>
  planned.flatMap((step, i): Step[] => {
    const key = String(step.key);
    if (step.kind === 'append') return [{ kind: 'append', key, value: step.value }];
    return answers ? [{ kind: 'read', key, values: answers[i] as number[] }] : [];
  });

const balanceOf = (id: number): Query => dataOf('balance', refTo(ACCOUNTS, id));
const setBalance = (id: number, balance: Query): Query => ({
  update: refTo(ACCOUNTS, id),
  params: withData({ balance }),
});

/** Moves the amount if the balance is large enough. */
export const transfer = (from: number, to: number, amount: number): Query => ({
  let: [{ from: balanceOf(from) }, { to: balanceOf(to) }],
  in: branch(
    { gte: [{ var: 'from' }, amount] },
    {
      do: [
        setBalance(from, { subtract: [{ var: 'from' }, amount] }),
        setBalance(to, { add: [{ var: 'to' }, amount] }),
        true,
      ],
    },
    false,
  ),
});

/** Reads all balances through a page of the collection. */
export const balances: Query = {
  select: ['data'],
  from: {
    map: {
      lambda: 'account',
      expr: { select: ['data', 'balance'], from: { get: { var: 'account' } } },
    },
    collection: { paginate: { documents: { collection: ACCOUNTS } }, size: 3 * ACCOUNT_COUNT },
  },
};

export const readRegister = (id: number): Query => {
  const ref = refTo(REGISTERS, id);
  return branch({ exists: ref }, dataOf('value', ref), 0);
};

export const writeRegister = (id: number, value: number): Query => {
  const ref = refTo(REGISTERS, id);
  const params = withData({ value });
  return { do: [branch({ exists: ref }, { update: ref, params }, { create: ref, params }), true] };
};

export const compareAndSet = (id: number, from: number, to: number): Query =>
  branch({ equals: [readRegister(id), from] }, writeRegister(id, to), false);

export const takeName = (name: string, by: number): Query => ({
  create: { collection: NAMES },
  params: withData({ name, by }),
});

/** Reads all pairs of a name and the client that has it, through the collection. */
export const namesTaken: Query = {
  select: ['data'],
  from: {
    map: {
      lambda: 'taken',
      expr: {
        let: [{ data: { select: ['data'], from: { get: { var: 'taken' } } } }],
        in: [
          { select: ['name'], from: { var: 'data' } },
          { select: ['by'], from: { var: 'data' } },
        ],
      },
    },
    collection: { paginate: { documents: { collection: NAMES } }, size: 100_000 },
  },
};
