/** What a role takes away from others: the `permissions` of a resource that a role names no longer apply. Spec: auth 3.7. */
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

/** The answer to the write of a role says which `permissions` it makes ineffective, because nothing else would. */
export function warnOfUnappliedPermissions({ context, ref, previous }: Draft): void {
  const schema = context.schema(context.database);
  const role = schema.byId('roles', ref.id);
  if (!role) return;
  const others = schema.all('roles').filter((each) => each !== role);
  if (previous) others.push(roleDefinitionOf({ ...role, fields: previous }));
  const before = namesIn(others);
  const added = [...namesIn([role])].filter((name) => !before.has(name));
  // Of an index over a collection that is named, pages show only documents that may be read.
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
    `Permissions of ${names} no longer give access to what role ${role.name} names: only roles do.`,
  );
}
