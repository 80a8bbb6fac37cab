/** Recognizes which action of this page a write comes from, by its query. */

export type NoteWrite =
  | { readonly kind: 'create'; readonly title: string; readonly shared: boolean }
  | { readonly kind: 'rename'; readonly id: string; readonly title: string }
  | { readonly kind: 'share'; readonly id: string; readonly shared: boolean }
  | { readonly kind: 'count'; readonly id: string }
  | { readonly kind: 'photo'; readonly id: string }
  | { readonly kind: 'delete'; readonly id: string };

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const member = (value: unknown, name: string): unknown => (isJson(value) ? value[name] : undefined);

/** @param query wire JSON. @returns undefined if no action of this page makes such a query */
export function readWrite(query: string): NoteWrite | undefined {
  const json: unknown = JSON.parse(query);
  if (member(json, 'delete') !== undefined) {
    const id = idIn(member(json, 'delete'));
    return id === undefined ? undefined : { kind: 'delete', id };
  }
  const data = dataIn(member(json, 'params'));
  if (!data) return undefined;
  const { title, shared } = data;
  if (member(json, 'create') !== undefined && typeof title === 'string')
    return { kind: 'create', title, shared: shared === true };
  const id = idIn(member(json, 'update'));
  if (id === undefined) return undefined;
  if (typeof title === 'string') return { kind: 'rename', id, title };
  if (typeof shared === 'boolean') return { kind: 'share', id, shared };
  if ('photo' in data) return { kind: 'photo', id };
  return 'count' in data ? { kind: 'count', id } : undefined;
}

const dataIn = (params: unknown): Json | undefined => {
  const data = member(member(member(params, 'object'), 'data'), 'object');
  return isJson(data) ? data : undefined;
};

function idIn(target: unknown): string | undefined {
  const id = member(target, 'id') ?? member(member(target, '@ref'), 'id');
  return typeof id === 'string' ? id : undefined;
}

/**
 * Describes a write in words.
 * @param titleOf returns the title of a note as this window saw it last
 * @param label the text for a write that this page did not make
 */
export function sayWrite(
  write: NoteWrite | undefined,
  titleOf: (id: string) => string,
  label = 'A write by another page',
): string {
  if (!write) return label;
  if (write.kind === 'create') return `New note “${write.title}”`;
  const known = `“${titleOf(write.id)}”`;
  if (write.kind === 'rename') return `Rename ${known} to “${write.title}”`;
  if (write.kind === 'share') return `${write.shared ? 'Share' : 'Hide'} ${known}`;
  if (write.kind === 'photo') return `Photo of ${known}`;
  return write.kind === 'count' ? `+1 for ${known}` : `Delete ${known}`;
}
