/** Whether rights of a caller may change with time alone. */
import type { RoleDefinition } from '../../../engine/catalog.ts';
import type { Lambda } from '../../../values/value.ts';
import type { DeviceCaller } from './device-caller.ts';

/** Searches the text of predicates for `now()` and `time('now')`; if a predicate calls a function, also all functions. @throws Suspended */
export function dependOnTime({ context, caller }: DeviceCaller): boolean {
  if (caller.role !== 'roles') return false;
  const schema = context.schema(context.database);
  const predicates = schema.all('roles').flatMap(predicatesOf);
  if (predicates.some(usesNow)) return true;
  return predicates.some(calls) && schema.all('functions').some(({ body }) => usesNow(body));
}

const predicatesOf = ({ privileges, membership }: RoleDefinition): readonly Lambda[] => [
  ...privileges.flatMap(({ actions }) =>
    [...actions.values()].filter((given) => typeof given !== 'boolean'),
  ),
  ...membership.flatMap(({ predicate }) => predicate ?? []),
];

const usesNow = ({ wire }: Lambda): boolean => wire.includes('"now"');
const calls = ({ wire }: Lambda): boolean => wire.includes('"call"');
