/** Notices about the database that are shown above every view. */
import type { Database } from '../../src/index.ts';
import { button, fill, h } from './dom.ts';
import { explain } from './explain.ts';
import { formatNumber } from './format.ts';

/** Shows a notice when data was lost or the database has closed. Both stay visible. */
export function watchDatabase(db: Database, notices: HTMLElement): void {
  const tellLoss = (description: string): void => {
    notices.append(
      notice('loss', 'Data was lost', `${description} The cities are imported again.`, [
        { label: 'OK', run: (node) => node.remove() },
      ]),
    );
  };
  if (db.loss) tellLoss(db.loss.description);
  db.addEventListener('loss', ({ detail }) => tellLoss(detail.description));
  db.addEventListener('closed', ({ detail }) => {
    notices.append(
      notice('closed', 'The database was closed', detail, [
        { label: 'Open it again', run: () => location.reload() },
      ]),
    );
  });
}

/** Shows the progress of index builds over many documents, and a message when an index is ready. */
export function watchIndexBuilds(
  db: Database,
  notices: HTMLElement,
  say: (message: string) => void,
): void {
  const lines = new Map<string, HTMLElement>();
  db.addEventListener('progress', ({ detail }) => {
    const { task, name, done, isComplete } = detail;
    if (task !== 'index' || name === undefined) return;
    const line = lines.get(name) ?? h('p', { class: 'building', 'data-testid': 'building' });
    if (isComplete) {
      // An index that was built before its progress was shown needs no message.
      if (lines.delete(name)) say(`The index “${name}” is ready.`);
      line.remove();
      return;
    }
    fill(line, `Building the index “${name}”: ${formatNumber(done)} documents processed`);
    if (!line.isConnected) notices.append(line);
    lines.set(name, line);
  });
}

/** Shown instead of the app when the database could not be opened. */
export function openingFailed(error: unknown): HTMLElement {
  return notice('failed', 'The database could not be opened', explain(error), [
    { label: 'Try again', run: () => location.reload() },
  ]);
}

interface Action {
  readonly label: string;
  readonly run: (notice: HTMLElement) => void;
}

function notice(
  name: string,
  title: string,
  text: string,
  actions: readonly Action[],
): HTMLElement {
  const node = h('section', { class: 'notice', role: 'alert', 'data-testid': `notice-${name}` });
  const buttons = actions.map(({ label, run }) =>
    button(label, () => run(node), { class: 'quiet' }),
  );
  fill(node, h('div', { class: 'grow' }, h('h2', {}, title), h('p', {}, text)), ...buttons);
  return node;
}
