/** SVG paths of the icons in the navigation, for a view box of 24 by 24. */
export const ICONS = {
  cities:
    'M12 21s7-6.5 7-11.5a7 7 0 0 0-14 0C5 14.500 12 21 12 21zM12 12a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z',
  roles:
    'M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 19c.500-3.500 3-5.500 6-5.500s5.500 2 6 5.500M16 5.500a3 3 0 0 1 0 5.500M17.500 14c2 .800 3.200 2.500 3.500 5',
  sync: 'M4 12a8 8 0 0 1 13.700-5.600L20 9M20 4v5h-5M20 12a8 8 0 0 1-13.700 5.600L4 15M4 20v-5h5',
  query: 'M8 5l-5 7 5 7M16 5l5 7-5 7M13.500 4l-3 16',
  log: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7M9 7h3',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c1-4.500 4-6.500 8-6.500s7 2 8 6.500',
  about: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v6M12 7.500v.01',
} as const;

const SVG = 'http://www.w3.org/2000/svg';

export function icon(paths: string): SVGElement {
  const drawing = document.createElementNS(SVG, 'svg');
  drawing.setAttribute('viewBox', '0 0 24 24');
  drawing.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', paths);
  drawing.append(path);
  return drawing;
}
