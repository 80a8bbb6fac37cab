import { fill } from '../shell/dom.ts';

/** Replaces the rows of a list; who was at a control of it is at the same one afterwards. */
export function refill(list: HTMLElement, rows: readonly HTMLElement[]): void {
  const at = document.activeElement;
  const label = at && list.contains(at) ? at.getAttribute('aria-label') : null;
  fill(list, ...rows);
  if (label === null) return;
  const controls = list.querySelectorAll<HTMLElement>('button, input');
  [...controls].find((each) => each.ariaLabel === label)?.focus({ preventScroll: true });
}
