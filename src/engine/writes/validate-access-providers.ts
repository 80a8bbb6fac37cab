/** Validation of access providers: issuers of tokens, and the roles that their tokens get. Spec: auth 1.2, 2.4. */
import { fail } from '../../errors.ts';
import { isObject } from '../../values/value.ts';
import { audienceOf } from '../access/access-caller.ts';
import { checkRoleRef } from './check-role.ts';
import {
  checkData,
  checkName,
  eachOf,
  isLambda,
  isString,
  refuse,
  refuseMissing,
  refuseType,
  required,
  type Draft,
  type Kind,
} from './draft.ts';
import { refuseMisspelt } from './misspelt.ts';

export const ACCESS_PROVIDER: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'issuer', 'jwks_uri', 'roles', 'data'],
  order: ['name', 'issuer', 'jwks_uri', 'audience', 'roles', 'data'],
  kept: ['name', 'issuer', 'jwks_uri', 'audience'],
  check(draft) {
    const { context, fields } = draft;
    checkName(draft);
    const issuer = required(draft, 'issuer', 'String', isString);
    const others = context.schema(context.database).all('access_providers');
    if (
      others.some((each) => each.ref.id !== draft.ref.id && each.fields.get('issuer') === issuer)
    ) {
      refuse(draft, ['issuer'], 'duplicate value', 'Another access provider has this issuer.');
    }
    const uri = required(draft, 'jwks_uri', 'String', isString);
    if (uri !== undefined && !/^https:\/\/[^/]/.test(uri) && !context.inputs.mayFetch?.(uri)) {
      refuse(draft, ['jwks_uri'], 'invalid uri', 'An https address is expected.');
    }
    checkProviderRoles(draft);
    checkData(draft);
    const audience = audienceOf(context);
    if (audience !== undefined) fields.set('audience', audience);
  },
  requireCreatable(context, position) {
    if (audienceOf(context) !== undefined) return;
    const text = "The feature 'access providers' is not available for your plan.";
    fail('feature not available', position, text);
  },
};

function checkProviderRoles(draft: Draft): void {
  const roles = draft.fields.get('roles');
  if (roles === undefined) return;
  for (const [each, field] of eachOf(roles, ['roles'])) {
    if (!isObject(each)) {
      checkRoleRef(draft, each, field);
      continue;
    }
    refuseMisspelt(draft, each, ['role', 'predicate'], field);
    const role = each.get('role');
    if (role === undefined) refuseMissing(draft, [...field, 'role']);
    else checkRoleRef(draft, role, [...field, 'role']);
    const predicate = each.get('predicate');
    if (predicate !== undefined && !isLambda(predicate)) {
      refuseType(draft, [...field, 'predicate'], predicate, 'Lambda');
    }
  }
}
