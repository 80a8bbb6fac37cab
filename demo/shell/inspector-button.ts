/** A button that opens the inspector. Until it is pressed nothing of it is loaded. */
import type { Database } from '../../src/index.ts';
import { button } from './dom.ts';
import { explain } from './explain.ts';

export function inspectorButton(
  db: Database,
  say: (message: string, kind: 'bad') => void,
): HTMLElement {
  const open = async (): Promise<void> => {
    try {
      const { mountInspector } = await import('../../inspector/inspector.ts');
      // Pressed again: there is one already.
      document.querySelector('burrow-inspector')?.remove();
      mountInspector(db);
    } catch (error) {
      say(`The inspector was not loaded: ${explain(error)}`, 'bad');
    }
  };
  return button('Inspect', open, { class: 'inspect', 'data-testid': 'inspect' });
}
