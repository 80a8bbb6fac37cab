/** Limits of arguments and of results. Spec: functions 1.8, "·b". */
import { fail, fault, type Fault } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { textWeight } from '../../values/weight.ts';
import type { PureContext } from '../define.ts';
import { positionOf } from '../query-path.ts';

export const boundFault = (context: PureContext, argument: string, rule: string): Fault =>
  fault('invalid argument', positionOf(context.path), `${argument} must be ${rule}`);

/** Throws "<argument> must be <rule>" at the form. */
export const refuseBound = (context: PureContext, argument: string, rule: string): never =>
  fail('invalid argument', positionOf(context.path), `${argument} must be ${rule}`);

/** Checks the limits of length and memory before a text is made. */
export function requireTextSize(context: PureContext, chars: number): void {
  if (chars > LIMITS.textChars) {
    refuseBound(context, 'result', `at most ${LIMITS.textChars} characters long`);
  }
  context.session.memory.ask(textWeight(chars));
}
