/** Exports of `catalog/` for other folders: schema objects, databases and refs. */
export {
  databaseByGlobalId,
  databaseById,
  databasePath,
  ROOT_DATABASE,
} from './catalog/databases.ts';
export { collectionRef } from './catalog/definitions.ts';
export type {
  FunctionDefinition,
  IndexDefinition,
  LegacyPermissions,
  RoleDefinition,
} from './catalog/definitions.ts';
export { isNativeEntry } from './catalog/native-indexes.ts';
export { collectionOfDocument, isSameRef } from './catalog/refs.ts';
export { schemasOver } from './catalog/schema.ts';
export { parseStoredLambda } from './catalog/stored-lambdas.ts';
