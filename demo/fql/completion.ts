import { button, fill, h } from '../shell/dom.ts';
import { builderNames } from '../../inspector/fql/build.ts';

const SHOWN = 8;
const WORD = /[A-Za-z]+$/;

/** Lists functions whose names start with the word at the caret. A click inserts a name, Ctrl+Space the first one. */
export function completionFor(area: HTMLTextAreaElement): HTMLElement {
  const node = h('div', { class: 'chips', role: 'group', 'aria-label': 'Matching functions' });
  const wordAtCaret = (): string =>
    area.selectionStart === area.selectionEnd
      ? (WORD.exec(area.value.slice(0, area.selectionStart))?.[0] ?? '')
      : '';
  const matches = (): readonly string[] => {
    const word = wordAtCaret().toLowerCase();
    if (word.length < 2) return [];
    const found = builderNames.filter((name) => name.toLowerCase().startsWith(word));
    return found.length === 1 && found[0] === wordAtCaret() ? [] : found.slice(0, SHOWN);
  };
  const accept = (name: string): void => {
    const end = area.selectionStart;
    const start = end - wordAtCaret().length;
    area.setRangeText(`${name}(`, start, end, 'end');
    area.focus();
    draw();
  };
  const draw = (): void => {
    fill(node, ...matches().map((name) => button(name, () => accept(name), { class: 'chip' })));
  };
  area.addEventListener('input', draw);
  area.addEventListener('keydown', (event) => {
    const [first] = matches();
    if (!(event.ctrlKey && event.code === 'Space') || first === undefined) return;
    event.preventDefault();
    accept(first);
  });
  return node;
}
