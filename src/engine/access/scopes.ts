/** Parses the scope that may follow a key's secret after a colon. Spec: auth 1.4. */
import type { BuiltinRole } from '../context/caller.ts';

export type Scope = {
  /** Names of databases, starting below the key's own database. */
  readonly path: readonly string[];
} & (
  | { readonly kind: 'builtin'; readonly role: BuiltinRole }
  | { readonly kind: 'role'; readonly name: string }
  | { readonly kind: 'document'; readonly collection: string; readonly id: bigint }
);

/** `none`: the suffix is not a scope, and is ignored. `malformed`: the suffix starts like a scope, but is invalid. */
export function parseScope(suffix: string): Scope | 'none' | 'malformed' {
  const colon = suffix.indexOf(':');
  if (colon >= 0) {
    const path = suffix.slice(0, colon).split('/');
    const inner = path.every((name) => SEGMENT.test(name))
      ? parseRole(suffix.slice(colon + 1), path)
      : 'none';
    if (inner !== 'none') return inner;
  }
  return parseRole(suffix, []);
}

const SEGMENT = /^[^/,()&=:]+$/;
// The first match is taken, so longer words come before their prefixes.
const BUILTIN = ['admin', 'server-readonly', 'server', 'client'] as const;
const ROLE = /^@role\/([^/,()&=:]+)/;
const DOCUMENT = /^(?:@doc|collections|classes)\/([^/,()&=:]+)\/([^/,()&=:]+)/;
const ID = /^[0-9]{1,19}$/;
const ID_MAX = 2n ** 63n - 1n;

function parseRole(text: string, path: readonly string[]): Scope | 'none' | 'malformed' {
  const builtin = BUILTIN.find((role) => text.startsWith(role));
  if (builtin) return text === builtin ? { kind: 'builtin', role: builtin, path } : 'malformed';
  const role = ROLE.exec(text);
  if (role?.[1]) return role[0] === text ? { kind: 'role', name: role[1], path } : 'malformed';
  const [whole, collection, id] = DOCUMENT.exec(text) ?? [];
  if (!collection || !id) return 'none';
  if (whole !== text || !ID.test(id) || BigInt(id) > ID_MAX) return 'malformed';
  return { kind: 'document', collection, id: BigInt(id), path };
}
