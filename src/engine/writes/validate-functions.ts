/** Validation of functions. Spec: sets 1.1. */
import { checkPermissions } from './check-permissions.ts';
import { checkRole } from './check-role.ts';
import { checkData, checkName, isLambda, required, type Kind } from './draft.ts';

export const FUNCTION: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'body', 'role', 'data', 'permissions'],
  order: ['name', 'body', 'role', 'data', 'permissions'],
  kept: ['name', 'body'],
  check(draft) {
    checkName(draft);
    required(draft, 'body', 'Lambda', isLambda);
    const role = draft.fields.get('role');
    const { schema, database } = draft.context;
    if (role !== undefined) checkRole(draft, role, ['role'], schema(database));
    checkData(draft);
    checkPermissions(draft, ['call']);
  },
};
