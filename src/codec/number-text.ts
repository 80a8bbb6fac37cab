/** Numbers as Java prints them, which is the format on the wire. Spec: values 2. */

/**
 * Prints a double with the shortest digits that read back as the same double: `1.0`, `1.0E7`, `1.0E-5`, `NaN`,
 * `Infinity`.
 */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const magnitude = Math.abs(value);
  if (magnitude === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  const text = scientificText(value);
  const exponentAt = text.indexOf('e');
  const digits = text.slice(0, exponentAt);
  const exponent = text.slice(exponentAt + 1).replace('+', '');
  return `${digits.includes('.') ? digits : `${digits}.0`}E${exponent}`;
}

/**
 * Java prints at least two digits. When one digit would do, it picks the nearest two-digit number: `4.9E-324`, not
 * `5.0E-324`.
 */
function scientificText(value: number): string {
  const shortest = value.toExponential();
  if (shortest.includes('.')) return shortest;
  const twoDigits = value.toExponential(1);
  return Number(twoDigits) === value ? twoDigits : shortest;
}
