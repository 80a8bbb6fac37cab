/** Shows why a query failed, and the metrics of a query. */
import { QueryError, type QueryMetrics } from '../../src/index.ts';
import { denialOf } from '../roles/denial.ts';
import { plain } from '../roles/role-column.ts';
import { button, h, hint, type Child } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { formatBytes, formatNumber } from '../shell/format.ts';
import type { Built } from '../../inspector/fql/build.ts';
import { SyntaxProblem } from '../../inspector/fql/tokens.ts';

/** Describes an error, with a button that selects the part of the text that it refers to. */
export function failure(
  error: unknown,
  {
    built,
    area,
    rights,
  }: {
    readonly built: Built | undefined;
    readonly area: HTMLTextAreaElement;
    /** What the query's permissions come from, in words, such as `the root secret`. */
    readonly rights: string;
  },
): Child[] {
  if (error instanceof SyntaxProblem) {
    return [
      h('p', { class: 'problem', 'data-testid': 'query-problem' }, error.message),
      placeButton(area, error),
    ];
  }
  if (!(error instanceof QueryError)) {
    return [h('p', { class: 'problem', 'data-testid': 'query-problem' }, explain(error))];
  }
  const position = error.position.join(' → ');
  const denial =
    error.code === 'permission denied' && built
      ? denialOf(plain(built.expression), error.position, rights)
      : undefined;
  return [
    h(
      'p',
      { class: 'problem', 'data-testid': 'query-problem' },
      h('strong', {}, error.code),
      ` ${error.description}`,
    ),
    denial && h('p', { 'data-testid': 'denial' }, `${denial.sentence} Action: ${denial.action}.`),
    hint(`Status ${error.status}${position && `, at ${position}`}`),
    built && position !== '' && placeButton(area, built.locate(error.position)),
    error.errors.some(({ failures }) => failures) &&
      h('pre', {}, JSON.stringify(error.errors, undefined, 2)),
  ];
}

/** A button that selects the part of the text between `start` and `end`. */
function placeButton(
  area: HTMLTextAreaElement,
  { start, end }: { readonly start: number; readonly end: number },
): HTMLElement {
  const before = area.value.slice(0, start).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  const select = (): void => {
    area.focus();
    area.setSelectionRange(start, Math.max(end, start + 1));
  };
  return button(`Show line ${before.length}, column ${column}`, select, { class: 'quiet small' });
}

export function metricsList(metrics: QueryMetrics): HTMLElement {
  const items: readonly (readonly [label: string, value: string])[] = [
    ['time', `${formatNumber(Math.round(metrics.queryTime * 10) / 10)} ms`],
    ['compute', formatNumber(metrics.computeOps)],
    ['reads', formatNumber(metrics.readOps)],
    ['writes', formatNumber(metrics.writeOps)],
    ['read', formatBytes(metrics.readBytes)],
    ['written', formatBytes(metrics.writeBytes)],
    ['in', formatBytes(metrics.bytesIn)],
    ['out', formatBytes(metrics.bytesOut)],
    ['retries', formatNumber(metrics.retries)],
  ];
  return h(
    'dl',
    { class: 'metrics', 'data-testid': 'metrics' },
    ...items.map(([label, value]) => h('div', {}, h('dt', {}, label), h('dd', {}, value))),
  );
}
