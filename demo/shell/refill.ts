import { fill } from './dom.ts';

/**
 * Replaces the rows of a list. If one of its controls had the focus, the focus moves to the same control, to the one in its place, or to
 * the list.
 */
export function refill(list: HTMLElement, rows: readonly HTMLElement[]): void {
  const focused = document.activeElement;
  const at = controlsOf(list).findIndex((each) => each === focused);
  fill(list, ...rows);
  if (at < 0) return;
  const controls = controlsOf(list);
  const label = focused?.ariaLabel;
  const same = controls.find((each) => label && each.ariaLabel === label);
  list.tabIndex = -1;
  (same ?? controls[at] ?? controls.at(-1) ?? list).focus({ preventScroll: true });
}

const controlsOf = (list: HTMLElement): readonly HTMLElement[] => [
  ...list.querySelectorAll<HTMLElement>('button, input'),
];
