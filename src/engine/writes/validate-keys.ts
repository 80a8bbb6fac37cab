/** Validation of keys: secrets that give access to this database or to a child. Spec: auth 1.2, 2.3. */
import { isKind } from '../../values/value.ts';
import type { DatabaseId } from '../../values/value.ts';
import { databaseById, databaseIdOf } from '../catalog/databases.ts';
import { parseSecret, secretHash } from '../access/secrets.ts';
import { checkKeyRole } from './check-role.ts';
import {
  checkData,
  checkTtl,
  isString,
  optional,
  refuse,
  refuseMissing,
  refuseReference,
  refuseType,
  type Draft,
  type Kind,
} from './draft.ts';
import { giveSecret } from './give-secret.ts';
import { checkPriority } from './validate-databases.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export const KEY: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'role', 'database', 'priority', 'data', 'ttl'],
  order: ['name', 'role', 'database', 'priority', 'data', 'ttl', 'hashed_secret'],
  kept: ['hashed_secret'],
  check(draft) {
    const { context, fields, mode } = draft;
    optional(draft, 'name', 'String', isString);
    const target = checkDatabase(draft);
    const role = fields.get('role');
    if (role === undefined) refuseMissing(draft, ['role']);
    else checkKeyRole(draft, role, context.schema(target));
    checkPriority(draft);
    checkData(draft);
    checkTtl(draft);
    if (mode === 'insert') fields.delete('hashed_secret');
    else checkSecretGiven(draft);
    if (mode === 'create' && draft.failures.length === 0) giveSecret(draft, 'key');
  },
};

/** The database that the key gives access to: this one, or a direct child. */
function checkDatabase(draft: Draft): DatabaseId {
  const { context, fields } = draft;
  const given = fields.get('database');
  if (given === undefined) return context.database;
  if (!isKind(given, 'ref') || given.collection !== NATIVE.databases) {
    refuseType(draft, ['database'], given, 'Database Ref');
  } else if (databaseById(context.reader, databaseIdOf(given))?.parent !== context.database) {
    refuseReference(draft, ['database']);
  } else return databaseIdOf(given);
  return context.database;
}

/** The params may contain the secret, if it is one of this very key. */
function checkSecretGiven(draft: Draft): void {
  const { params, ref, fields, context } = draft;
  const given = params.get('secret') ?? undefined;
  if (given === undefined) return;
  const secret = typeof given === 'string' ? parseSecret(given) : undefined;
  if (secret?.kind !== 'key' || secret.id !== ref.id) {
    refuse(draft, ['secret'], 'invalid secret', 'The secret is not one of this key.');
  } else if (!fields.has('hashed_secret')) {
    fields.set('hashed_secret', secretHash(secret.random, context.inputs.sha256));
    draft.extras.set('secret', given);
  }
}
