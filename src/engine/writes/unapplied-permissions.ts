/**
 * Warns when a role makes the `permissions` of resources ineffective: they no longer apply to a resource that a role names. Spec: auth 3.7.
 */
import {
  roleDefinitionOf,
  sourceCovering,
  type IndexDefinition,
  type RoleDefinition,
} from '../catalog/definitions.ts';
import { resourceName } from '../catalog/refs.ts';
import type { Draft } from './draft.ts';

type Permitted = Pick<IndexDefinition, 'ref' | 'name' | 'permissions'>;

const namesIn = (roles: readonly RoleDefinition[]) =>
  new Set(roles.flatMap((role) => role.privileges.map(({ resource }) => resourceName(resource))));

/** The answer to the write of a role lists the `permissions` that it makes ineffective, because nothing else would show it. */
export function warnOfUnappliedPermissions({ context, ref, previous }: Draft): void {
  const schema = context.schema(context.database);
  const role = schema.byId('roles', ref.id);
  if (!role) return;
  const others = schema.all('roles').filter((each) => each !== role);
  if (previous) others.push(roleDefinitionOf({ ...role, fields: previous }));
  const before = namesIn(others);
  const added = [...namesIn([role])].filter((name) => !before.has(name));
  const isNamed = ({ ref: of }: Permitted): boolean => added.includes(resourceName(of));
  const wasNamed = ({ ref: of }: Permitted): boolean => before.has(resourceName(of));
  const covers = (index: IndexDefinition): boolean =>
    added.some((name) => typeof name === 'number' && sourceCovering(index, name));
  const indexes = schema.all('indexes');
  const all = [...schema.all('collections'), ...schema.all('functions'), ...indexes];
  const note = (of: readonly Permitted[], text: (names: string) => string): void => {
    const names = of.filter(({ permissions }) => permissions?.size).map(({ name }) => name);
    if (names.length > 0)
      context.meters.addNotice(`Because of role ${role.name}, ${text(names.join(', '))}`);
  };
  note(
    all.filter(isNamed),
    (names) => `the permissions of ${names} no longer give access: give it by roles.`,
  );
  // Logins need only the index. Naming it in a role as well would take it from the client key, and nobody could log in.
  note(
    indexes.filter((index) => !isNamed(index) && !wasNamed(index) && covers(index)),
    (names) =>
      `pages of ${names} have only documents that the caller may read. Logins with it still work.`,
  );
}
