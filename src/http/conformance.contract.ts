/**
 * Runs the examples of the specification against the HTTP API of a host. Each example has a database of its own.
 * Conventions: spec pages functions 5, sets 10, auth 8.
 */
import { expect } from 'vitest';
import { parseJson, stringifyJson, type Json } from '../codec/json.ts';

export interface HostRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}
export interface HostAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
/** An empty database, with an admin secret for it. */
export interface ConformanceHost {
  readonly admin: string;
  request(request: HostRequest): Promise<HostAnswer>;
}

export interface Example {
  readonly id: string;
  readonly area: string;
  readonly json: ReadonlyMap<string, Json>;
}

export function readExamples(text: string): Example[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const json = asObject(parseJson(line));
      return { id: textOf(json.get('id')), area: textOf(json.get('area')), json };
    });
}

/** Runs the set-up and the query of an example and expects its answer. */
export async function runExample({ json }: Example, host: ConformanceHost): Promise<void> {
  const secrets = new Map([['admin', host.admin]]);
  for (const each of asArray(json.get('setup') ?? [])) await runSetup(each, host, secrets);
  const ignore = new Set(asArray(json.get('ignore') ?? []).map(textOf));
  const answer = await ask(host, secrets, json);
  const body = answer.body === '' ? null : parseJson(answer.body);
  const expected = json.get('error');
  if (expected !== undefined) expectError(answer, body, asObject(expected), json);
  else if (json.has('result')) {
    const isWhole = json.get('whole') === true;
    const actual = isWhole ? body : body instanceof Map ? body.get('resource') : undefined;
    const detail = `answered ${answer.status} ${answer.body}`;
    expect(actual, detail).not.toBeUndefined();
    expect(canonical(actual ?? null, ignore), detail).toEqual(
      canonical(json.get('result') ?? null, ignore),
    );
  }
  expectStatusAndHeaders(answer, json);
}

async function runSetup(
  step: Json,
  host: ConformanceHost,
  secrets: Map<string, string>,
): Promise<void> {
  const fields = asObject(step);
  const isStep = fields.has('query') && (fields.has('as') || fields.has('bind'));
  const call = isStep ? fields : new Map<string, Json>([['query', step]]);
  const answer = await ask(host, secrets, call);
  expect(answer.status, `set-up ${stringifyJson(step)} answered ${answer.body}`).toBeLessThan(300);
  const bind = call.get('bind');
  if (typeof bind !== 'string') return;
  const secret = asObject(asObject(parseJson(answer.body)).get('resource')).get('secret');
  secrets.set(bind, textOf(secret));
}

function ask(
  host: ConformanceHost,
  secrets: ReadonlyMap<string, string>,
  call: ReadonlyMap<string, Json>,
): Promise<HostAnswer> {
  const headers: Record<string, string> = { 'x-faunadb-api-version': '4' };
  const secret = secretOf(call.get('as') === undefined ? 'admin' : call.get('as'), secrets);
  if (secret !== undefined) {
    headers['authorization'] =
      call.get('scheme') === 'Basic' ? `Basic ${btoa(`${secret}:`)}` : `Bearer ${secret}`;
  }
  const http = call.get('http');
  if (http === undefined) {
    const query = call.get('query') ?? null;
    return host.request({
      method: 'POST',
      path: '/',
      headers,
      body: stringifyJson(withSecrets(query, secrets)),
    });
  }
  const fields = asObject(http);
  for (const [name, value] of asObject(fields.get('headers') ?? new Map())) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = textOf(value);
  }
  const body = fields.get('body');
  return host.request({
    method: textOf(fields.get('method')),
    path: textOf(fields.get('path')),
    headers,
    body: body === undefined ? undefined : typeof body === 'string' ? body : stringifyJson(body),
  });
}

function secretOf(as: Json | undefined, secrets: ReadonlyMap<string, string>): string | undefined {
  if (as === null || as === undefined) return undefined;
  if (as instanceof Map) return textOf(as.get('raw'));
  const [name = '', ...suffix] = textOf(as).split(':');
  const secret = secrets.get(name);
  expect(secret, `no secret is bound to ${name}`).toBeDefined();
  return [secret, ...suffix].join(':');
}

function withSecrets(json: Json, secrets: ReadonlyMap<string, string>): Json {
  if (typeof json === 'string' && json.startsWith('$secret:'))
    return secrets.get(json.slice('$secret:'.length)) ?? json;
  if (Array.isArray(json)) return json.map((each) => withSecrets(each, secrets));
  if (json instanceof Map)
    return new Map([...json].map(([key, each]) => [key, withSecrets(each, secrets)]));
  return json;
}

function expectError(
  answer: HostAnswer,
  body: Json,
  expected: ReadonlyMap<string, Json>,
  json: ReadonlyMap<string, Json>,
): void {
  const detail = `answered ${answer.status} ${answer.body}`;
  const errors = asArray(body instanceof Map ? (body.get('errors') ?? []) : []);
  const first = errors[0] instanceof Map ? errors[0] : new Map<string, Json>();
  expect(first.get('code'), detail).toBe(expected.get('code'));
  expect(answer.status, detail).toBe(expected.get('status'));
  if (expected.has('position'))
    expect(first.get('position'), detail).toEqual(expected.get('position'));
  if (expected.has('description'))
    expect(first.get('description'), detail).toBe(expected.get('description'));
  const count = expected.get('error_count') ?? json.get('error_count');
  if (count !== undefined) expect(errors.length, detail).toBe(count);
  if (expected.has('failures'))
    expect(summary(first.get('failures'), ['field', 'code']), detail).toEqual(
      summary(expected.get('failures'), ['field', 'code']),
    );
  if (expected.has('cause'))
    expect(summary(first.get('cause'), ['code', 'position']), detail).toEqual(
      summary(expected.get('cause'), ['code', 'position']),
    );
}

const summary = (list: Json | undefined, members: readonly string[]): unknown =>
  asArray(list ?? []).map((each) => members.map((member) => asObject(each).get(member)));

function expectStatusAndHeaders(answer: HostAnswer, json: ReadonlyMap<string, Json>): void {
  const expected = new Map([...asHolder(json.get('http')), ...json]);
  const status = expected.get('status');
  if (status !== undefined) expect(answer.status, answer.body).toBe(status);
  for (const [name, value] of asHolder(json.get('headers'))) {
    const actual = answer.headers[name.toLowerCase()];
    if (value === true) expect(actual, `header ${name}`).toBeDefined();
    else if (value === false) expect(actual, `header ${name}`).toBeUndefined();
    else expect(actual, `header ${name}`).toBe(textOf(value));
  }
}

/** A form for comparing: the order of members and ignored members do not matter; 1 and 1.0 differ. */
function canonical(json: Json, ignore: ReadonlySet<string>): unknown {
  if (Array.isArray(json)) return json.map((each) => canonical(each, ignore));
  if (!(json instanceof Map))
    return typeof json === 'string' || json === null || typeof json === 'boolean'
      ? json
      : { number: stringifyJson(json) };
  const members = [...json]
    .filter(([key]) => !ignore.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([key, each]) => [key, canonical(each, ignore)]);
}

/** Returns a string unchanged, and anything else as JSON. */
const textOf = (json: Json | undefined): string =>
  typeof json === 'string' ? json : stringifyJson(json ?? null);

function asObject(json: Json | undefined): ReadonlyMap<string, Json> {
  if (json instanceof Map) return json;
  throw new Error(`an example has ${textOf(json)} where an object belongs`);
}
const asHolder = (json: Json | undefined): ReadonlyMap<string, Json> =>
  json instanceof Map ? json : new Map();
function asArray(json: Json | undefined): readonly Json[] {
  if (Array.isArray(json)) return json;
  throw new Error(`an example has ${textOf(json)} where an array belongs`);
}
