import { fill, h } from '../shell/dom.ts';
import { isNetworkOn, turnNetwork } from './hub-place.ts';
import type { NoteCopy } from './note-copy.ts';

const LOOK_MS = 5000;

/** A switch that cuts the connection of this copy to the hub. Other copies stay connected. */
export function networkSwitch({ person, sync }: NoteCopy, signal: AbortSignal): HTMLElement {
  const button = h('button', {
    type: 'button',
    class: 'toggle',
    role: 'switch',
    'aria-checked': 'true',
    'aria-describedby': 'network-hint',
    'data-testid': 'network',
  });
  const hint = h('p', { class: 'hint', id: 'network-hint' });
  const show = (isOn: boolean): void => {
    button.setAttribute('aria-checked', String(isOn));
    fill(button, h('span', { class: 'knob' }), `Network of this window: ${isOn ? 'on' : 'off'}`);
    fill(
      hint,
      isOn
        ? 'When off, the server of this page drops every request between this copy and the hub. “Offline” in the developer tools has the same effect.'
        : 'The hub cannot be reached. Everything below keeps working.',
    );
  };
  /** Reads the state from the server: another window of the same person may have changed it. */
  const look = async (): Promise<void> => {
    try {
      show(await isNetworkOn(person));
      button.disabled = false;
    } catch {
      button.disabled = true;
      fill(hint, 'The server of this page cannot be reached: you are offline.');
    }
  };
  /** Starts a sync round now instead of waiting for the next automatic one. */
  const tryNow = (): void => {
    sync.whenSynced().catch(() => undefined);
  };
  const turn = async (): Promise<void> => {
    const isOn = button.getAttribute('aria-checked') === 'false';
    await turnNetwork(person, isOn).catch(() => undefined);
    await look();
    tryNow();
  };
  button.addEventListener('click', () => void turn());
  sync.addEventListener('state', () => void look(), { signal });
  for (const change of ['online', 'offline']) addEventListener(change, tryNow, { signal });
  const timer = setInterval(() => void look(), LOOK_MS);
  signal.addEventListener('abort', () => clearInterval(timer));
  show(true);
  void look();
  return h('div', { class: 'network' }, button, hint);
}
