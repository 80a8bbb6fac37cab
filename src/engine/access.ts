/** Exports of `access/` for other folders: authentication, permissions, secrets and passwords. */
export { looksLikeAccessToken } from './access/access-token.ts';
export { authenticate, authenticationContext } from './access/authenticate.ts';
export { permissionsOf } from './access/caller-permissions.ts';
export { isAuthorized, rolesOf } from './access/caller-roles.ts';
export { findCredentials } from './access/credentials.ts';
export { identityPermissions, memberPermissions } from './access/legacy-permissions.ts';
export { normalised } from './access/passwords.ts';
export { anyOf, builtinPermissions } from './access/permissions.ts';
export { decider } from './access/predicates.ts';
export { rolePermissions } from './access/role-permissions.ts';
export { HIDDEN, hideSecretTexts, mayHoldSecret } from './access/secret-texts.ts';
export {
  globalIdText,
  hashOfRootSecret,
  isSameText,
  looksLikeToken,
  parseSecret,
  secretHash,
} from './access/secrets.ts';
