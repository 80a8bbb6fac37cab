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
  // An index is affected if it covers a collection that the role names: its pages then show only documents that the caller may read.
  const covers = (index: IndexDefinition): boolean =>
    added.some((name) => typeof name === 'number' && sourceCovering(index, name));
  const lost = [
    ...schema.all('collections'),
    ...schema.all('functions'),
    ...schema.all('indexes'),
  ].filter(
    (each) =>
      each.permissions?.size &&
      (added.includes(resourceName(each.ref)) || ('sources' in each && covers(each))),
  );
  if (lost.length === 0) return;
  const names = lost.map(({ name }) => name).join(', ');
  context.meters.addNotice(
    `Because of role ${role.name}, the permissions of ${names} no longer give access: give it by roles.`,
  );
}
