/** Documents and queries of the benchmark. */
const TEXT = 'x'.repeat(100);

const index = (field: string): string =>
  `{"create_index":{"object":{"name":"by_${field}","source":{"collection":"notes"},"values":[{"object":{"field":["data","${field}"]}},{"object":{"field":["ref"]}}]}}}`;

export const INDEXES = [index('a'), index('b')];

const fieldsOf = (id: string): string => `"a":${id},"b":"${id}","text":"${TEXT}"`;

export const create = (id: number): string =>
  `{"create":{"ref":{"collection":"notes"},"id":"${id}"},"params":{"object":{"data":{"object":{${fieldsOf(String(id))}}}}}}`;

/** A commit that is so large that the hub drops its cached index entries: the next pages are read from the database again. */
export const forgetting = (nextId: () => number): string =>
  `{"do":[${Array.from({ length: 1100 }, () => create(nextId())).join(',')}]}`;

/** A query for the page of 64 documents that starts at this id. */
export const pageAfter = (id: string): string =>
  `{"map":{"lambda":["a","ref"],"expr":{"get":{"var":"ref"}}},"collection":{"paginate":{"match":{"index":"by_a"}},"size":64,"after":[${id}]}}`;

/** A document as the hub returns it. The baseline stores and returns this text. */
export const documentText = (id: string): string =>
  `{"ref":{"@ref":{"id":"${id}","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}},"ts":1700000000000000,"data":{${fieldsOf(id)}}}`;
