/** Shows which notes this copy holds and whether its answers are complete. */
import { q } from '../../src/index.ts';
import { button, fill, h } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { counted, formatNumber } from '../shell/format.ts';
import { keepsAll, keepNotes, type NoteCopy } from './note-copy.ts';
import { NOTES } from './note-queries.ts';

const COUNT = q.Count(NOTES);

export function keptNotes(copy: NoteCopy, signal: AbortSignal): HTMLElement {
  const answer = h('p', { class: 'hint', role: 'status', 'data-testid': 'hub-count' });
  return h(
    'section',
    { class: 'card', 'aria-label': 'What this copy keeps' },
    h('h2', {}, 'What this copy keeps'),
    countHere(copy, signal),
    h(
      'label',
      { class: 'check' },
      ownNotesBox(copy, answer),
      h('span', {}, 'Keep only my own notes on this device'),
    ),
    h(
      'div',
      { class: 'buttons' },
      button('Count at the hub', () => countAtHub(copy, answer), {
        class: 'quiet',
        'data-testid': 'ask-hub',
      }),
    ),
    answer,
  );
}

function countHere({ sync }: NoteCopy, signal: AbortSignal): HTMLElement {
  const node = h('p', { 'data-testid': 'note-count' });
  const stop = sync.client.subscribe(COUNT, {
    next: (notes, { partial }) =>
      fill(
        node,
        partial.length === 0
          ? `${counted(notes, 'note')}: all that you may see.`
          : `${counted(notes, 'note')} on this device. The hub may have more.`,
      ),
    error: (error) => fill(node, explain(error)),
  });
  signal.addEventListener('abort', stop);
  return node;
}

async function countAtHub({ sync }: NoteCopy, answer: HTMLElement): Promise<void> {
  try {
    const { value, from } = await sync.client.queryWithMetrics(COUNT, { at: 'hub-or-copy' });
    fill(
      answer,
      from === 'hub'
        ? `The hub counts ${formatNumber(value)}.`
        : `The hub cannot be reached. This device counts ${formatNumber(value)}.`,
    );
  } catch (error) {
    fill(answer, explain(error));
  }
}

/** @param answer shows the count of the hub. It is cleared when the choice changes, because the count is for the earlier choice */
function ownNotesBox(copy: NoteCopy, answer: HTMLElement): HTMLElement {
  const box = h('input', {
    type: 'checkbox',
    checked: !keepsAll(copy.person),
    'data-testid': 'keep-own',
    on: {
      change: () => {
        fill(answer);
        keepNotes(copy, box.checked ? 'own' : 'all').catch((error: unknown) =>
          fill(answer, explain(error)),
        );
      },
    },
  });
  return box;
}
