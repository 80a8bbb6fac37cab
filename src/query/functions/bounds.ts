/** Bounds of arguments and of what functions make. Spec: functions 1.8, "·b". */
import { fail, fault, type Fault } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { textWeight } from '../../values/weight.ts';
import type { PureContext } from '../define.ts';
import { positionOf } from '../query-path.ts';

export const boundFault = (context: PureContext, argument: string, rule: string): Fault =>
  fault('invalid argument', positionOf(context.path), `${argument} must be ${rule}`);

/** "<argument> must be <rule>", at the form. */
export const refuseBound = (context: PureContext, argument: string, rule: string): never =>
  fail('invalid argument', positionOf(context.path), `${argument} must be ${rule}`);

/** Asks for room for a text before it is made. */
export function requireTextSize(context: PureContext, chars: number): void {
  if (chars > LIMITS.textChars) {
    refuseBound(context, 'result', `at most ${LIMITS.textChars} characters long`);
  }
  context.session.memory.ask(textWeight(chars));
}
