/** The body of an answer: `{"resource":…}` or `{"errors":[…]}`. Spec: functions 3.1, auth 4.4. */
import { quote } from '../../codec/json.ts';
import { type Fault, type FieldFailure, type Step } from '../../errors.ts';
import { hideSecretTexts } from '../access/secret-texts.ts';

export const errorBody = (faults: readonly Fault[]): string =>
  `{"errors":[${faults.map(faultText).join(',')}]}`;

/** The body of a refusal: no position. */
export const refusalBody = (code: string, description: string): string =>
  `{"errors":[{"code":${quote(code)},"description":${quote(description)}}]}`;

function faultText({ position, code, description, failures, cause }: Fault): string {
  // A text that repeats what it was given may repeat a secret. What a query aborts with is meant for its caller as it is.
  const told = code === 'transaction aborted' ? description : hideSecretTexts(description);
  const members = [
    `"position":[${position.map(stepText).join(',')}]`,
    `"code":${quote(code)}`,
    `"description":${quote(told)}`,
  ];
  if (failures) members.push(`"failures":[${failures.map(failureText).join(',')}]`);
  if (cause) members.push(`"cause":[${cause.map(faultText).join(',')}]`);
  return `{${members.join(',')}}`;
}

const stepText = (step: Step): string => (typeof step === 'number' ? String(step) : quote(step));

const failureText = ({ field, code, description }: FieldFailure): string =>
  `{"field":[${field.map(quote).join(',')}],"code":${quote(code)},"description":${quote(hideSecretTexts(description))}}`;
