/** Forms of the reference model that read and write documents. */
import type { PartObject } from '../query-text.ts';
import { memberOf, textIn, type Form } from './call.ts';
import { Fault, integer, members, newRef, ref, refOrSet } from './casts.ts';
import { missing } from './documents.ts';
import { cleaned, DocRef, patched, Silent, type Members } from './values.ts';

export const DOCUMENT_FORMS: Readonly<Record<string, Form>> = {
  ref: (call) =>
    new DocRef(
      textIn(memberOf(call.raw('ref') as PartObject, 'collection')),
      BigInt(textIn(call.raw('id'))),
    ),
  at: (call) => {
    const time = integer(call.value('at'), call.path('at'));
    const scope = { ...call.scope, ...call.model.documents.seenAt(Number(time)) };
    return call.model.one(call.raw('expr'), scope, call.path('expr'));
  },
  get: (call) =>
    call.model.documents.get(call.arguments({ get: refOrSet }).get, call.scope.time) ??
    missing(call.at),
  exists: (call) =>
    call.model.documents.get(call.arguments({ exists: refOrSet }).exists, call.scope.time) !==
    undefined,
  create: (call) => {
    const { create, params } = call.arguments({ create: newRef, params: members });
    call.refusePast('create');
    const data = cleaned(call.dataOf(params)) as Members;
    const ttl = call.ttlOf(params);
    if (call.model.documents.get(create, call.scope.time))
      throw new Fault('instance already exists', call.path('create'));
    return call.model.documents.write(create, { data, ttl }, call.at, call.path('create'));
  },
  update: (call) => {
    const { update, params } = call.arguments({ update: ref, params: members });
    call.refusePast();
    const before =
      call.model.documents.get(update, call.scope.time) ?? missing(call.path('update'));
    const { data, ttl } = before.fields;
    const fields = {
      data: patched(data ?? new Map(), call.dataOf(params)),
      ttl: params?.has('ttl') ? call.ttlOf(params) : ttl,
    };
    return call.model.documents.write(update, fields, call.at, call.at);
  },
  replace: (call) => {
    const { replace, params } = call.arguments({ replace: ref, params: members });
    call.refusePast();
    if (!call.model.documents.get(replace, call.scope.time)) missing(call.path('replace'));
    const fields = { data: cleaned(call.dataOf(params)) as Members, ttl: call.ttlOf(params) };
    return call.model.documents.write(replace, fields, call.at, call.at);
  },
  delete: (call) => {
    const { delete: target } = call.arguments({ delete: ref });
    if (call.scope.isPast) throw new Silent('deletes in the past');
    const before = call.model.documents.get(target, call.scope.time) ?? missing(call.at);
    call.model.documents.end(target);
    return before;
  },
};
