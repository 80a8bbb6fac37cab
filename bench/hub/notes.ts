/** What is stored and asked. */
const TEXT = 'x'.repeat(100);

const index = (field: string): string =>
  `{"create_index":{"object":{"name":"by_${field}","source":{"collection":"notes"},"values":[{"object":{"field":["data","${field}"]}},{"object":{"field":["ref"]}}]}}}`;

export const INDEXES = [index('a'), index('b')];

const fieldsOf = (id: string): string => `"a":${id},"b":"${id}","text":"${TEXT}"`;

export const create = (id: number): string =>
  `{"create":{"ref":{"collection":"notes"},"id":"${id}"},"params":{"object":{"data":{"object":{${fieldsOf(String(id))}}}}}}`;

/** So large a commit that a hub forgets which entries are in the indexes it touches: pages are read from the database again. */
export const forgetting = (nextId: () => number): string =>
  `{"do":[${Array.from({ length: 1100 }, () => create(nextId())).join(',')}]}`;

/** The page of 64 documents from the one with this number on. */
export const pageAfter = (id: string): string =>
  `{"map":{"lambda":["a","ref"],"expr":{"get":{"var":"ref"}}},"collection":{"paginate":{"match":{"index":"by_a"}},"size":64,"after":[${id}]}}`;

/** A document as the hub answers it: what the floor stores and answers. */
export const documentText = (id: string): string =>
  `{"ref":{"@ref":{"id":"${id}","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}},"ts":1700000000000000,"data":{${fieldsOf(id)}}}`;
