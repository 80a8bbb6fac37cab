import type { App } from '../shell/app.ts';
import { button, fill, h } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { formatNumber } from '../shell/format.ts';

/** The progress of the import. It is shown above every view until all cities are imported. */
export function importBanner(app: App): HTMLElement {
  const bar = h('progress', { 'aria-label': 'Import of the cities', 'data-testid': 'import-bar' });
  const count = h('p', { class: 'import-count', 'data-testid': 'import-count' });
  const switching = button('', () => toggle(app), { class: 'quiet' });
  const note = h('p', { class: 'hint' });
  const banner = h(
    'section',
    { class: 'import', 'aria-label': 'Import', 'data-testid': 'import', hidden: true },
    h('div', { class: 'import-row' }, h('h2', {}, 'Importing the cities'), switching),
    bar,
    count,
    note,
  );
  const update = (): void => {
    const { phase, state, speed, error } = app.cities.progress;
    banner.dataset['phase'] = phase;
    banner.hidden = phase === 'complete' || phase === 'waiting';
    switching.textContent = phase === 'running' ? 'Pause' : 'Continue';
    if (state) {
      bar.max = state.total;
      bar.value = state.done;
    }
    fill(count, state ? countText(state, phase === 'running' ? speed : undefined) : 'Fetching…');
    fill(note, error === undefined ? HINTS[phase] : explain(error));
    note.classList.toggle('bad', error !== undefined);
  };
  app.cities.addEventListener('change', update);
  update();
  return banner;
}

function countText(
  { done, total }: { readonly done: number; readonly total: number },
  speed: number | undefined,
): string {
  const counted = `${formatNumber(done)} of ${formatNumber(total)}`;
  if (speed === undefined) return counted;
  const left = Math.ceil((total - done) / speed);
  return `${counted} · ${formatNumber(Math.round(speed))} documents per second · about ${formatNumber(left)} s left`;
}

const HINTS = {
  waiting: '',
  running:
    'The cities are imported once, into a database in this browser. You can use the app meanwhile, or close the page: the import resumes where it stopped.',
  paused: 'Paused. The cities imported so far can be used.',
  failed: 'The import has stopped.',
  complete: '',
};

function toggle(app: App): void {
  if (app.cities.progress.phase === 'running') app.cities.pause();
  else void app.cities.run();
}
