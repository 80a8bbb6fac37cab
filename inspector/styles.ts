/** Styles of the inspector, as a constructed style sheet, which a strict Content-Security-Policy allows. */

/** Colours on a dark background, for the system's dark scheme or the attribute `theme`. */
const DARK = `
  --ground: var(--burrow-ground, #17181c);
  --raised: var(--burrow-raised, #24262c);
  --text: var(--burrow-text, #e8e8ec);
  --muted: var(--burrow-muted, #b0b3bf);
  --line: var(--burrow-line, #4a4d58);
  --accent: var(--burrow-accent, #9cc1ff);
  --on-accent: var(--burrow-on-accent, #0a1a33);
  --bad: var(--burrow-bad, #ffa79f);
  --warn: var(--burrow-warn, #ffd58a);
  --warn-ground: var(--burrow-warn-ground, #40300f);
  color-scheme: dark;
`;

const CSS = `
:host {
  --ground: var(--burrow-ground, #ffffff);
  --raised: var(--burrow-raised, #f2f3f7);
  --text: var(--burrow-text, #1b1b1f);
  --muted: var(--burrow-muted, #50525c);
  --line: var(--burrow-line, #c5c7d1);
  --accent: var(--burrow-accent, #0b4fc0);
  --on-accent: var(--burrow-on-accent, #ffffff);
  --bad: var(--burrow-bad, #a3221b);
  --warn: var(--burrow-warn, #6d4300);
  --warn-ground: var(--burrow-warn-ground, #fff2d6);
  display: block;
  color-scheme: light;
  color: var(--text);
  background: var(--ground);
  font: 14px/1.45 system-ui, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :host(:not([theme='light'])) {${DARK}}
}
:host([theme='dark']) {${DARK}}
:host([docked]) {
  position: fixed;
  inset: auto 0 0 0;
  height: min(62vh, 40rem);
  z-index: 2147483000;
  border-top: 1px solid var(--line);
  box-shadow: 0 -4px 24px rgb(0 0 0 / 25%);
}
:host([hidden]) { display: none; }
[hidden] { display: none !important; }
* { box-sizing: border-box; }
.frame { display: flex; flex-direction: column; height: 100%; max-height: inherit; }
header { display: flex; gap: 0.75rem; align-items: center; padding: 0.4rem 0.75rem; background: var(--raised); }
h2, h3, h4 { margin: 0.75rem 0 0.35rem; line-height: 1.25; }
h2 { font-size: 1rem; margin: 0; }
h3 { font-size: 1rem; }
h4 { font-size: 0.9rem; }
header .hint { flex: 1; margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tabs { display: flex; overflow-x: auto; border-bottom: 1px solid var(--line); background: var(--raised); padding: 0 0.5rem; flex: none; }
.tabs button { border: 0; border-radius: 0; background: none; padding: 0.45rem 0.8rem; border-bottom: 3px solid transparent; color: var(--text); }
.tabs button[aria-selected='true'] { border-bottom-color: var(--accent); font-weight: 600; }
.panels { overflow: auto; flex: 1; min-height: 0; padding: 0.25rem 0.75rem 1rem; }
button, select, textarea { font: inherit; color: inherit; }
button, select { border: 1px solid var(--line); border-radius: 0.35rem; background: var(--ground); padding: 0.3rem 0.65rem; min-height: 2rem; cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled { color: var(--muted); cursor: default; }
button.primary { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
textarea { width: 100%; font-family: ui-monospace, monospace; background: var(--ground); border: 1px solid var(--line); border-radius: 0.35rem; padding: 0.5rem; resize: vertical; }
pre, code { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 0.35rem; padding: 0.5rem; overflow: auto; max-height: 20rem; margin: 0.35rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.hint { color: var(--muted); margin: 0.35rem 0; }
.problem { color: var(--bad); overflow-wrap: anywhere; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0.5rem 0; }
.choices { list-style: none; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: 0.4rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--muted); font-weight: 600; white-space: nowrap; }
.facts { display: flex; flex-wrap: wrap; gap: 0.35rem 1.5rem; margin: 0.5rem 0; }
.facts dt { color: var(--muted); font-size: 0.85em; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.records { list-style: none; margin: 0; padding: 0; }
.records details { border-bottom: 1px solid var(--line); }
summary { cursor: pointer; padding: 0.4rem 0; }
summary .line { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--muted); }
.detail { padding: 0 0 0.75rem 0.75rem; }
.tag { display: inline-block; border: 1px solid currentcolor; border-radius: 0.8rem; padding: 0 0.5rem; margin-inline-end: 0.4rem; font-size: 0.85em; }
.tag.bad { color: var(--bad); }
.tag.warn { color: var(--warn); }
.advice { background: var(--warn-ground); border-radius: 0.35rem; padding: 0.1rem 0.75rem 0.6rem; margin: 0.5rem 0; }
.shell { position: relative; }
.completions { list-style: none; margin: 0.2rem 0; padding: 0.2rem; border: 1px solid var(--line); border-radius: 0.35rem; background: var(--raised); max-width: 24rem; }
.completions li { padding: 0.15rem 0.5rem; border-radius: 0.25rem; cursor: pointer; font-family: ui-monospace, monospace; }
.completions li[aria-selected='true'] { background: var(--accent); color: var(--on-accent); }
.history ol { padding-inline-start: 1.5rem; }
.history button { text-align: start; white-space: pre-wrap; overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
.voice { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (min-width: 60rem) {
  .data { display: grid; grid-template-columns: minmax(20rem, 2fr) 3fr; gap: 1.5rem; }
}
@media (max-width: 40rem) {
  :host([docked]) { height: 100dvh; }
  .tabs button { padding: 0.6rem 0.7rem; }
}
@media (prefers-reduced-motion: no-preference) { .panels { scroll-behavior: smooth; } }
`;

let sheet: CSSStyleSheet | undefined;

export function styleSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
