/** Error texts of API versions before 2.7: classes for collections, instances for documents. Spec: functions 3.2. */
import type { Fault } from '../../errors.ts';
import { isAtLeast, type ApiVersion } from '../../query/session.ts';

/** Whole sentences of ours: what a caller wrote, and texts quote, stays as it is. */
const SENTENCES: readonly (readonly [now: RegExp, then: string])[] = [
  [/^Collection (not found|already exists)\.$/, 'Class $1.'],
  [/^Document (not found|already exists)\.$/, 'Instance $1.'],
  [/^document (is not unique|data is not valid)\.$/, 'instance $1.'],
  [/^Ref refers to undefined collection (?=')/, 'Ref refers to undefined class '],
  [/^Collection Ref expected, /, 'Class Ref expected, '],
  [/ expected, Collection Ref provided\.$/, ' expected, Class Ref provided.'],
  [/^Cannot cast Collection Ref to /, 'Cannot cast Class Ref to '],
];

const FAILURES: typeof SENTENCES = [
  [/^Invalid type Collection Ref, /, 'Invalid type Class Ref, '],
  [/, expected type Collection Ref\.$/, ', expected type Class Ref.'],
];

const legacyText = (description: string, sentences = SENTENCES): string =>
  sentences.reduce((text, [now, then]) => text.replace(now, then), description);

const legacyFault = (fault: Fault): Fault => ({
  ...fault,
  description:
    fault.code === 'transaction aborted' ? fault.description : legacyText(fault.description),
  ...(fault.failures && {
    failures: fault.failures.map((failure) => ({
      ...failure,
      description: legacyText(failure.description, FAILURES),
    })),
  }),
  ...(fault.cause && { cause: fault.cause.map(legacyFault) }),
});

/** Faults with the texts of the request's API version. */
export const faultsForVersion = (
  faults: readonly Fault[],
  apiVersion: ApiVersion,
): readonly Fault[] => (isAtLeast(apiVersion, '2.7') ? faults : faults.map(legacyFault));
