/** What the log says of a response beside its status: for whoever runs the hub, not for the caller. */
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';

/** A response that the hub made itself may say why. */
export type NotedResponse = HttpResponse & { readonly note?: string };

export function noteOf(request: HttpRequest, response: NotedResponse): string | undefined {
  const denied = response.faults?.find(({ code }) => code === 'permission denied');
  return (
    response.note ??
    response.headers['x-burrow-notice'] ??
    (denied && `denied: ${formAt(request.body ?? '', denied.position)}`)
  );
}

/** Longer queries are not parsed once more for the log. */
const QUERY_CHARS_MAX = 65_536;
const NAMED = ['collection', 'index', 'function', 'role', 'database'] as const;

/** The form at a position, and the schema object that it names first: no values, which are data of users. */
function formAt(query: string, position: readonly (string | number)[]): string {
  const place = position.length > 0 ? ` at ${position.join('.')}` : '';
  if (query.length > QUERY_CHARS_MAX) return `the query${place}`;
  let form: unknown = parsed(query);
  // The last step may be the key that gives the form its name.
  const last = position.length - 1;
  for (const [at, step] of position.entries())
    if (at < last || nameOf(form) !== step) form = memberOf(form, step);
  return `${nameOf(form) ?? 'the query'}${resourceIn(form) ?? ''}${place}`;
}

function parsed(query: string): unknown {
  try {
    return JSON.parse(query);
  } catch {
    return undefined;
  }
}

const isForm = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameOf = (form: unknown): string | undefined =>
  isForm(form) ? Object.keys(form)[0] : undefined;

const memberOf = (value: unknown, step: string | number): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string | number, unknown>>)[step]
    : undefined;

const DEPTH_MAX = 8;
/** Forms whose members are values, whatever their names. */
const DATA: ReadonlySet<string> = new Set(['object', '@obj', 'let']);

function resourceIn(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return undefined;
  if (isForm(value)) {
    const kind = NAMED.find((each) => typeof value[each] === 'string');
    if (kind) return ` of ${kind} '${String(value[kind])}'`;
  }
  for (const [name, each] of Object.entries(value)) {
    if (DATA.has(name)) continue;
    const found = resourceIn(each, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
