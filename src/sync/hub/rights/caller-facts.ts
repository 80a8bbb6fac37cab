/** Facts about the caller of a device: those sent to the device, and those that the hub stores. */
import { storedText } from '../../../codec/stored.ts';
import { rolesOf, findCredentials } from '../../../engine/access.ts';
import type { EngineContext, Caller } from '../../../engine/context.ts';
import { databaseById, type RoleDefinition } from '../../../engine/catalog.ts';
import { liveVersion } from '../../../engine/documents.ts';
import type { Micros } from '../../../values/value.ts';
import type { Actor } from '../../protocol/messages.ts';
import type { DeviceCaller } from './device-caller.ts';

/** Cached, because one execution needs the roles in many places and evaluates memberships only once. */
const rolesByContext = new WeakMap<EngineContext, readonly RoleDefinition[]>();

/** @throws Suspended */
export function rolesInForce({ context, caller }: DeviceCaller): readonly RoleDefinition[] {
  if (caller.role !== 'roles') return [];
  const roles = rolesByContext.get(context) ?? rolesOf(context, caller);
  rolesByContext.set(context, roles);
  return roles;
}

/** @throws Suspended */
export function actorOf(device: DeviceCaller): Actor {
  const { caller, context } = device;
  const { database, path, identity, role } = caller;
  const globalId = databaseById(context.reader, database)?.globalId;
  const subject = holderOf(caller);
  return {
    database: path,
    ...(globalId !== undefined && { globalId }),
    identity: identity && [identity.collection, String(identity.id)],
    role,
    roles: rolesInForce(device).map(({ ref }) => String(ref.id)),
    ...(subject !== undefined && { subject }),
  };
}

/** Distinguishes callers without a document. Copies store this text, so it must never change for a caller. */
function holderOf(caller: Caller): string | undefined {
  const { identity, label } = caller;
  const subject = subjectOf(caller);
  if (subject !== undefined) return `${label.id} ${subject}`;
  return identity ? undefined : `${label.kind} ${label.id}`;
}

/** When the credential expires, µs. @throws Suspended */
export function expiryOf({ caller, context }: DeviceCaller): Micros | undefined {
  const { document, grant } = caller;
  if (grant) return grant.until;
  return document && liveVersion(context, document, 'present')?.version.ttl;
}

/** When the password of the identity was last set, µs. @throws Suspended */
export const passwordTimeOf = ({ caller, context }: DeviceCaller): Micros | undefined =>
  caller.identity && findCredentials(context, caller.identity)?.version.ts;

/** The owner of the device. Any credential of the same owner may act for the device. */
export function ownerOf(caller: Caller): string {
  const { identity, label, database } = caller;
  if (identity) return `document ${identity.database}/${identity.collection}/${identity.id}`;
  const subject = subjectOf(caller);
  const who = subject === undefined ? '' : ` ${subject}`;
  return `${label.kind} ${label.id}${who} in ${database}`;
}

/** The subject in a token of an identity provider. The standard requires a text, but some providers use numbers. */
function subjectOf({ grant }: Caller): string | undefined {
  const subject = grant?.claims.get('sub') ?? undefined;
  return subject === undefined || typeof subject === 'string' ? subject : storedText(subject);
}
