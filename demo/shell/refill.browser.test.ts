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

test('the focus stays at a control that is still there', () => {
  const list = listOf('one', 'two');
  focusOn(list, 'two');
  refill(list, rowsOf('new', 'one', 'two'));
  expect(document.activeElement?.ariaLabel).toBe('two');
});

test('the focus goes to the control in the place of one that is gone or has another name', () => {
  const list = listOf('Publish', 'Delete');
  focusOn(list, 'Publish');
  refill(list, rowsOf('Hide', 'Delete'));
  expect(document.activeElement?.ariaLabel).toBe('Hide');
  focusOn(list, 'Delete');
  refill(list, rowsOf('Hide'));
  expect(document.activeElement?.ariaLabel).toBe('Hide');
});

test('the focus goes to the list when it has no controls left', () => {
  const list = listOf('Discard');
  focusOn(list, 'Discard');
  refill(list, [h('li', {}, 'Confirmed')]);
  expect(document.activeElement).toBe(list);
});

test('the focus is not taken from elsewhere', () => {
  const list = listOf('one');
  const elsewhere = h('button', {});
  document.body.append(elsewhere);
  elsewhere.focus();
  refill(list, rowsOf('two'));
  expect(document.activeElement).toBe(elsewhere);
});
