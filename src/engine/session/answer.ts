/** The body of an answer: `{"resource":…}` or `{"errors":[…]}`. Spec: functions 3.1, auth 4.4. */
import type { QueryMetrics } from '../../answers.ts';
import { quote } from '../../codec/json.ts';
import { Refusal, type Fault, type FieldFailure, type Step } from '../../errors.ts';
import { isAtLeast, type ApiVersion } from '../../query/session.ts';
import type { Micros } from '../../values/value.ts';
import type { QueryAnswer } from '../context/host.ts';
import { hideSecretTexts } from '../access/secret-texts.ts';

/** @param apiVersion decides the wording of descriptions; the present wording by default */
export function errorBody(faults: readonly Fault[], apiVersion?: ApiVersion): string {
  const isLegacy = apiVersion !== undefined && !isAtLeast(apiVersion, '2.7');
  return `{"errors":[${faults.map((each) => faultText(each, isLegacy)).join(',')}]}`;
}

/**
 * Error body for clients in a page, whose errors are read by people: descriptions include details, failures and causes. Over HTTP,
 * descriptions have the original's wording.
 */
export const detailedBody = (faults: readonly Fault[]): string =>
  errorBody(faults.map((each) => ({ ...each, description: detailed(each) })));

const detailed = ({ description, detail, failures = [], cause = [] }: Fault): string =>
  [
    description,
    detail ?? '',
    ...failures.map((each) => `${each.field.join('.')}: ${each.description}`),
    ...cause.map(detailed),
  ]
    .filter(Boolean)
    .join(' ');

/** The body of a refusal, which has no position. */
export const refusalBody = (code: string, description: string): string =>
  `{"errors":[{"code":${quote(code)},"description":${quote(description)}}]}`;

/**
 * The answer to a refused query: all its metrics are zero.
 * @throws `reason` if it is not a `Refusal`
 */
export function refusedAnswer(reason: unknown, txnTime: Micros): QueryAnswer {
  if (!(reason instanceof Refusal)) throw reason;
  return {
    status: reason.status,
    body: refusalBody(reason.code, reason.message),
    refusal: reason.code,
    until: reason.until,
    txnTime,
    metrics: NO_METRICS,
    database: [],
    readSet: { rows: [], ranges: [] },
  };
}

export const NO_METRICS: QueryMetrics = {
  bytesIn: 0,
  bytesOut: 0,
  computeOps: 0,
  readOps: 0,
  writeOps: 0,
  readBytes: 0,
  writeBytes: 0,
  queryTime: 0,
  retries: 0,
};

function faultText(fault: Fault, isLegacy: boolean): string {
  const { position, code, failures, cause } = fault;
  const description = descriptionOf(fault, isLegacy);
  // A description that quotes its input may contain a secret. Only the text of an `abort` reaches the caller unchanged.
  const told = code === 'transaction aborted' ? description : hideSecretTexts(description);
  const members = [
    `"position":[${position.map(stepText).join(',')}]`,
    `"code":${quote(code)}`,
    `"description":${quote(told)}`,
  ];
  if (failures)
    members.push(`"failures":[${failures.map((each) => failureText(each, isLegacy)).join(',')}]`);
  if (cause) members.push(`"cause":[${cause.map((each) => faultText(each, isLegacy)).join(',')}]`);
  return `{${members.join(',')}}`;
}

const stepText = (step: Step): string => (typeof step === 'number' ? String(step) : quote(step));

function failureText(failure: FieldFailure, isLegacy: boolean): string {
  const { field, code } = failure;
  const description = quote(hideSecretTexts(descriptionOf(failure, isLegacy)));
  return `{"field":[${field.map(quote).join(',')}],"code":${quote(code)},"description":${description}}`;
}

const descriptionOf = (
  { description, legacyDescription = description }: Fault | FieldFailure,
  isLegacy: boolean,
): string => (isLegacy ? legacyDescription : description);
