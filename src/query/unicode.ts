/**
 * Letter case, normal forms and properties of characters. The engines of JavaScript have tables of different versions of
 * Unicode: a write that was made offline in a new browser would have another result at a hub. So the language knows the
 * characters of Unicode 13, as Java 17 does. A later character is one that is not assigned: it has no case, no normal form
 * of its own and no property. Unicode guarantees that the cases and normal forms of known characters never change.
 */

/**
 * Lengths of runs of code points, alternately of known and of later ones. Known are those that Unicode 13 assigns, noncharacters, those
 * that casefolding ignores, and those that will hardly ever be assigned: the empty planes, and gaps in some blocks (letters of
 * mathematics, ancient Greek, Ethiopic, half and full width). A number is written with 26 letters as digits; the last digit is a small
 * letter.
 */
const RUNS =
  'BIecgehbbbubPhbBmcBycdbCdiBbeglBdbJgbCicDxoChcBxcpbBccbblCbvbslGvbicccwbhbbdecjccceibecbfczcdbgeccwbhbcbcbccbbfeccddbhebbhrkdbjbdbwbhbcbfckbdbdcbpecmhhbdbicccwbhbcbfcjcccdhdecbfcskcbgddbedcbbbcdcdddmefddbecbgbovfnbdbxbqdibdbehcbdfeckhwbdbxbkbfcjbdbehchbbeckbcnnbdbBzbdbgeqcBabdbsdybjbbchdbegbbbigkcdmCgeBdBlcbbbfbybbbxcfbbbgckceBgCubBkeBnbBkbpbnBlHqbbfbcBFacgcZtdDlhnbhlxjumnbdbcmDqckgkgpbkgDlhBrfCskBfbmemebdBqcflBseBagldCkcCnbBdclgkgocrClCyeBtdEmiCidpdCihBrcliBrfJqbYhcBbbndBgqBhpFkeZnzlvCRscBgbFwbBvbFsfBtbbfbcCehcoIeBtBabDlmIgBameCmbDicDzfBrbDqbDgmBvbBPPtdBSvdCdjNkuHciHkcjBqCedkgCeiCsimgEmlBedDableBhbCdjockcDzyBckEdeEwckgQNsmxeBxeNBacEcBmHmrObqCmcCciBucBagBzbtbeefbFfcKjbBabtbcbpcoBiEtfdeBtdDkbndbBvBuFaBddBxpBceBkjBefBrfBebBleoBqGcckgBkeBkeBoiCalbFoLzjwkiFwgcbbBsbcdbcxbCuijBwtbcfBhdBbfbCmCeeucBybcfibdbBdcdekhjhCmBgBnemjCcdBdcBbfBahemhDcCvCdBznBzhBuikLiBfbBqbdccDaBoiBqDiBcuxjDaeBepCplbczhkgCbbsiBnjDsbulsbBsCnhbbbebpblgChfkgebicccwbhbcbfbkcccdcbgbfhchdfFjDobfBeCuikGkCccBmBiCrlkgntCfhkCcBbcpeqHkCiDwDfmicbcibcbBebccmjkCsicBuclBbCuiDfBdCfKdjbBtbokBddBgcwboCvhbcbBsdbbcbjikggbcbBlbcbghkLyzHbbpBynBJnDyEhbflHoEBsBPfbjFZjWlMUbVxhBfbkecDsBecgkCskkbhbvftBAmDnDxCxeCfhrCmflcoJCaiBVqBqjNGhLbBxdreiPgDKuEdfndjhkciHIqJmkBncHkxCsFyumDjjzFfCMmpfbpCAihbrchbcbfIfBtdockecOeCgfbBXgHpcqBpCyekecBEfCqCyCjHmJiKkBseDwmpcpbpbBlkGsCeBdnBsejhcogFyBLwindndEmmDlhmumeCeikgBoiBeccDaErbDebFfmocfddfhjzhhjdnhBpFrbCdBlkBNoCLFcBiGDplIocINqoLBlEPjUwCFwHIbDLQpBLNNuDMXa';

/** Where known and later characters begin, alternately. Decoded on first use. */
let bounds: Uint32Array | undefined;

function decodedBounds(): Uint32Array {
  let end = 0;
  return Uint32Array.from(RUNS.match(/[A-Z]*[a-z]/g) ?? [], (digits) => {
    let length = 0;
    for (const digit of digits.toLowerCase()) length = length * 26 + digit.charCodeAt(0) - 0x61;
    return (end += length);
  });
}

const FIRST_LATER = 0x378;

function isLater(code: number): boolean {
  if (code < FIRST_LATER) return false;
  bounds ??= decodedBounds();
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? 0) <= code) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}

const same = (char: string): string => char;

/** Maps the parts of a text before, between and after separators. */
function mapParts(
  text: string,
  isSeparator: (code: number) => boolean,
  map: (part: string) => string,
  mapSeparator: (char: string) => string = same,
): string {
  let result = '';
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at) ?? 0;
    const start = at;
    if (code > 0xffff) at += 1;
    if (!isSeparator(code)) continue;
    result += map(text.slice(from, start)) + mapSeparator(text.slice(start, at + 1));
    from = at + 1;
  }
  return result + map(text.slice(from));
}

/** Changes the parts of the text between later characters. */
export const changeKnown = (text: string, change: (part: string) => string): string =>
  mapParts(text, isLater, change);

export const hasLater = (text: string): boolean => changeKnown(text, () => '') !== '';

export type NormalForm = 'NFC' | 'NFD' | 'NFKC' | 'NFKD';

export const normalForm = (text: string, form: NormalForm): string =>
  changeKnown(text, (part) => part.normalize(form));

/** Also characters that Unicode 13 calls cased, or ignores between a sigma and a letter, and later versions do not. */
const isLaterOrUncased = (code: number): boolean =>
  code === 0x295 || code === 0x1734 || code === 0x1_171e || isLater(code);

/** Where a letter's other case is a later character, the letter remains: it is the only one with that other case. */
const changeCase = (
  text: string,
  change: (part: string) => string,
  back: (char: string) => string,
): string =>
  mapParts(text, isLaterOrUncased, (part) => mapParts(change(part), isLater, same, back));

const toLower = (text: string): string => text.toLowerCase();
const toUpper = (text: string): string => text.toUpperCase();

export const lowerCase = (text: string): string => changeCase(text, toLower, toUpper);
export const upperCase = (text: string): string => changeCase(text, toUpper, toLower);

/** All known characters below U+1F000. Every script has some of them. */
let sample: string | undefined;

/** Whether a known character has the property. @throws SyntaxError for a name that the host does not know */
export function isKnownProperty(property: string): boolean {
  sample ??= Array.from({ length: 0x1_f000 }, (_, code) =>
    isLater(code) ? '' : String.fromCodePoint(code),
  ).join('');
  return new RegExp(property, 'u').test(sample);
}

/** A code point that no version assigns. */
const UNASSIGNED = '\u{a0000}';

/** The character whose script counts: an unassigned one for a later one. */
export const knownOr = (char: string): string =>
  isLater(char.codePointAt(0) ?? 0) ? UNASSIGNED : char;

const changed = (from: number, to: number, as: string) =>
  Array.from({ length: to - from + 1 }, (_, at) => [String.fromCodePoint(from + at), as] as const);

/** Characters of which later versions have changed other properties than the script, and one that has what they had. */
const CHANGED: ReadonlyMap<string, string> = new Map([
  ...changed(0x295, 0x295, '\u02a9'),
  ...changed(0x363, 0x36f, '\u0300'),
  ...changed(0xc04, 0xc04, '\u0c4d'),
  ...changed(0xf82, 0xf83, '\u0f84'),
  ...changed(0x10fc, 0x10fc, '\u02b9'),
  ...changed(0x1734, 0x1734, '\u1714'),
  ...changed(0x1dd3, 0x1de6, '\u0300'),
  ...changed(0x226d, 0x226d, '\u2213'),
  ...changed(0xab69, 0xab69, '\u02b9'),
  ...changed(0x11080, 0x11081, '\u{110b9}'),
  ...changed(0x1171e, 0x1171e, '\u{1171d}'),
]);

/** The character whose properties count, without the script: nearly always the same. */
export const standIn = (char: string): string => CHANGED.get(char) ?? knownOr(char);
