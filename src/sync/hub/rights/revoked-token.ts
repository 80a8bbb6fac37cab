/** Whether a token was revoked: it was deleted before it expired, or its document is gone. */
import { documentKey } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { unpackVersion } from '../../../codec/row.ts';
import type { EngineOptions } from '../../../engine/host.ts';
import { databaseByGlobalId, ROOT_DATABASE } from '../../../engine/catalog.ts';
import { globalIdText, isSameText, parseSecret, secretHash } from '../../../engine/access.ts';
import { fieldsOf, isExpired } from '../../../engine/documents.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import { Ref, type DatabaseId, type Micros } from '../../../values/value.ts';
import { NATIVE } from '../../../values/native-kinds.ts';

/** True only for the holder of the secret. Anyone else gets the same answer as for an arbitrary text. @throws Suspended */
export function isRevoked(
  text: string,
  snapshot: Micros,
  reader: Reader,
  { sha256 }: Pick<EngineOptions, 'sha256'>,
): boolean {
  const secret = parseSecret(text.split(':', 1)[0] ?? '');
  if (secret?.kind !== 'token') return false;
  const { id, databaseGlobalId } = secret;
  const database =
    databaseGlobalId === 0n
      ? ROOT_DATABASE
      : databaseByGlobalId(reader, globalIdText(databaseGlobalId))?.id;
  if (database === undefined) return false;
  const key = documentKey(database, NATIVE.tokens, id);
  const current = reader.row({ space: 'documents', key });
  const [end, last] = current ? [undefined, current] : deletionOf(reader, database, id);
  if (!last) return false;
  const version = unpackVersion(String(last.value));
  if (isExpired(version, end ?? snapshot)) return false;
  const ref = new Ref(database, NATIVE.tokens, id);
  const fields = fieldsOf({}, ref, version);
  const hash = fields.get('hashed_secret');
  return typeof hash === 'string' && isSameText(secretHash(secret.random, sha256), hash);
}

/** When a token was deleted, and its last version. */
function deletionOf(
  reader: Reader,
  database: DatabaseId,
  id: bigint,
): readonly [end: Micros | undefined, last: Row | undefined] {
  const versions = prefixRange(documentKey(database, NATIVE.tokens, id));
  const [marker, last] = reader.range(scan('history', versions, { reverse: true, limit: 2 }));
  const version = marker?.row && unpackVersion(String(marker.row.value));
  return version?.action === 'delete' ? [version.ts, last?.row] : [undefined, undefined];
}
