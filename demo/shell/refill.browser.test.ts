import { afterEach, expect, test } from 'vitest';
import { h } from './dom.ts';
import { refill } from './refill.ts';

afterEach(() => document.body.replaceChildren());

const rowsOf = (...labels: readonly string[]): HTMLElement[] =>
  labels.map((label) => h('li', {}, h('button', { 'aria-label': label }, label)));

function listOf(...labels: readonly string[]): HTMLElement {
  const list = h('ul', {}, ...rowsOf(...labels));
  document.body.append(list);
  return list;
}

const focusOn = (list: HTMLElement, label: string): void =>
  list.querySelector<HTMLElement>(`[aria-label="${label}"]`)?.focus();

test('the focus stays on a control that is still in the list', () => {
  const list = listOf('one', 'two');
  focusOn(list, 'two');
  refill(list, rowsOf('new', 'one', 'two'));
  expect(document.activeElement?.ariaLabel).toBe('two');
});

test('if the focused control is removed or renamed, the one at its position gets the focus', () => {
  const list = listOf('Publish', 'Delete');
  focusOn(list, 'Publish');
  refill(list, rowsOf('Hide', 'Delete'));
  expect(document.activeElement?.ariaLabel).toBe('Hide');
  focusOn(list, 'Delete');
  refill(list, rowsOf('Hide'));
  expect(document.activeElement?.ariaLabel).toBe('Hide');
});

test('the focus moves to the list if it has no controls left', () => {
  const list = listOf('Discard');
  focusOn(list, 'Discard');
  refill(list, [h('li', {}, 'Confirmed')]);
  expect(document.activeElement).toBe(list);
});

test('a focus outside the list does not move', () => {
  const list = listOf('one');
  const elsewhere = h('button', {});
  document.body.append(elsewhere);
  elsewhere.focus();
  refill(list, rowsOf('two'));
  expect(document.activeElement).toBe(elsewhere);
});
