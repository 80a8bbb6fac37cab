/** Bounds of arguments and of what functions make. Spec: functions 1.8, "·b". */
import { fail, fault, type Fault } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Value } from '../../values/value.ts';
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

const CHARS_PER_STEP = 1024;

/** Functions that go through a text cost by its length; short texts are covered by the call itself. */
export function chargeText(context: PureContext, chars: number): void {
  if (chars >= CHARS_PER_STEP) context.session.charge(Math.floor(chars / CHARS_PER_STEP));
}

/** The same for functions that go through the whole of values. */
export function chargeValues(context: PureContext, values: readonly Value[]): void {
  for (const value of values) chargeText(context, context.session.memory.weightOf(value));
}
