/** Validation of user documents. Spec: sets 1.1, 1.2. */
import { clamp } from '../../values/number.ts';
import { NANOS_MAX, NANOS_MIN } from '../../values/time.ts';
import { isObject, Time } from '../../values/value.ts';
import { checkData, checkTtl, optional, type Draft, type Kind } from './draft.ts';
import { checkPermissions } from './check-permissions.ts';

const DAY_NANOS = 86_400n * 1_000_000_000n;

export const DOCUMENT: Kind = {
  accepts: ['data', 'ttl', 'constraints', 'permissions'],
  order: ['data', 'ttl', 'constraints', 'permissions'],
  kept: [],
  check(draft) {
    checkData(draft);
    optional(draft, 'constraints', 'Map', isObject);
    checkPermissions(draft, ['read', 'write']);
    checkTtl(draft);
    setTtlOfCollection(draft);
  },
};

/** In a collection with `ttl_days`, documents written without a `ttl` get one. */
function setTtlOfCollection({ context, ref, params, fields }: Draft): void {
  const days = context.schema(ref.database).collection(ref.collection)?.ttlDays;
  if (days === undefined || (params.get('ttl') ?? null) !== null) return;
  const nanos = BigInt(context.snapshot) * 1000n + BigInt(days) * DAY_NANOS;
  fields.set('ttl', new Time(clamp(nanos, NANOS_MIN, NANOS_MAX)));
}
