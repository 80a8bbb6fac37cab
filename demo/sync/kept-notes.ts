/** Which notes this copy keeps, and whether its answers are complete. */
import { q } from '../../src/index.ts';
import { fill, h } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { formatNumber } from '../shell/format.ts';
import { keepsAll, keepNotes, type NoteCopy } from './note-copy.ts';
import { NOTES } from './note-queries.ts';

const COUNT = q.Count(NOTES);

const counted = (notes: number): string =>
  notes === 1 ? '1 note' : `${formatNumber(notes)} notes`;

export function keptNotes(copy: NoteCopy, signal: AbortSignal): HTMLElement {
  const { person, sync } = copy;
  const count = h('p', { 'data-testid': 'note-count' });
  const answer = h('p', { class: 'hint', role: 'status', 'data-testid': 'hub-count' });
  const stop = sync.client.subscribe(COUNT, {
    next: (notes, { partial }) =>
      fill(
        count,
        partial.length === 0
          ? `${counted(notes)}: all that you may see.`
          : `${counted(notes)} on this device. The hub may have more.`,
      ),
    error: (error) => fill(count, explain(error)),
  });
  signal.addEventListener('abort', stop);
  const ask = async (): Promise<void> => {
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
  };
  const own = h('input', {
    type: 'checkbox',
    checked: !keepsAll(person),
    'data-testid': 'keep-own',
    on: {
      change: () => {
        fill(answer);
        keepNotes(copy, own.checked ? 'own' : 'all').catch((error: unknown) =>
          fill(answer, explain(error)),
        );
      },
    },
  });
  return h(
    'section',
    { class: 'card', 'aria-label': 'What this copy keeps' },
    h('h2', {}, 'What this copy keeps'),
    count,
    h('label', { class: 'check' }, own, h('span', {}, 'Keep only my own notes on this device')),
    h(
      'div',
      { class: 'buttons' },
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          'data-testid': 'ask-hub',
          on: { click: () => void ask() },
        },
        'Count at the hub',
      ),
    ),
    answer,
  );
}
