import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { run, shown, pureSession } from '../testing/pure-session.ts';

const ARGUMENT = 'invalid argument at ';

/** Formats values. They are given as JSON text, so that Doubles stay Doubles. */
const formatted = (format: string, ...values: readonly string[]): unknown => {
  const outcome = run(`{"format":${JSON.stringify(format)},"values":[${values.join()}]}`);
  return 'value' in outcome ? outcome.value : outcome.faults.map(({ position }) => position);
};

const description = (format: string, ...values: readonly string[]): unknown => {
  const outcome = run(`{"format":${JSON.stringify(format)},"values":[${values.join()}]}`);
  return 'faults' in outcome
    ? outcome.faults.map((fault) => `${JSON.stringify(fault.position)} ${fault.description}`)
    : outcome.value;
};

test('format writes Integers like Java', () => {
  // Specifier, value, text: printed by Java 17.
  const cases: readonly (readonly [string, string, string])[] = [
    ['%d', '-1234567', '-1234567'],
    ['%,d', '-1234567', '-1,234,567'],
    ['%+d', '7', '+7'],
    ['% d', '7', ' 7'],
    ['%(d', '-7', '(7)'],
    ['%+,(d', '-1234567', '(1,234,567)'],
    ['%-9d|', '1234567', '1234567  |'],
    ['%,015d', '-1234567', '-000001,234,567'],
    ['%(015d', '-1234567', '(0000001234567)'],
    ['%x', '-1', 'ffffffffffffffff'],
    ['%#08x', '255', '0x0000ff'],
    ['%X', '48879', 'BEEF'],
    ['%#X', '48879', '0XBEEF'],
    ['%o', '-1', '1777777777777777777777'],
    ['%#o', '8', '010'],
    ['%d', '-9223372036854775808', '-9223372036854775808'],
  ];
  for (const [format, value, expected] of cases) expect(formatted(format, value)).toBe(expected);
});

test('format writes Doubles like Java', () => {
  // Specifier, value, text: printed by Java 17.
  const cases: readonly (readonly [string, string, string])[] = [
    ['%f', '12345.678', '12345.678000'],
    ['%.0f', '2.5', '3'],
    ['%.0f', '0.5', '1'],
    ['%.0f', '0.15', '0'],
    ['%.2f', '1.005', '1.01'],
    ['%.1f', '99.95', '100.0'],
    ['%#.0f', '-1.5', '-2.'],
    ['%,.2f', '1e21', '1,000,000,000,000,000,000,000.00'],
    ['%010.2f', '-1.5', '-000001.50'],
    ['%(.2f', '-0.0', '(0.00)'],
    ['%e', '12345.678', '1.234568e+04'],
    ['%E', '0.0', '0.000000E+00'],
    ['%.0e', '9.5', '1e+01'],
    ['%e', '4.9E-324', '4.900000e-324'],
    ['%012.3e', '-1e-5', '-001.000e-05'],
    ['%g', '0.0', '0.00000'],
    ['%g', '0.0001', '0.000100000'],
    ['%g', '0.00001', '1.00000e-05'],
    ['%g', '99999.95', '100000'],
    ['%.3g', '99999.95', '1.00e+05'],
    ['%.0g', '0.15', '0.2'],
    ['%,g', '12345.678', '12,345.7'],
    ['%G', '1e10', '1.00000E+10'],
  ];
  for (const [format, value, expected] of cases) expect(formatted(format, value)).toBe(expected);
  const infinite = '{"multiply":[-1e200,1e200]}';
  expect(formatted('%(012.1f', infinite)).toBe('  (Infinity)');
  expect(formatted('%+f', infinite)).toBe('-Infinity');
  expect(formatted('%06E', '{"to_double":"NaN"}')).toBe('   NAN');
});

test('format writes strings, Booleans, percent signs and line ends', () => {
  expect(formatted('%s %S %5s|%-5s|%.2s', '"a"', '"b"', '"c"', '"d"', '"😀ef"')).toBe(
    'a B     c|d    |😀e',
  );
  expect(formatted('%s', '1.0')).toBe('1.0');
  expect(formatted('%s', 'null')).toBe('null');
  expect(formatted('%b %b %b', 'true', 'null', '0')).toBe('true false true');
  expect(formatted('100%% %5%|%n')).toBe('100%     %|\n');
  expect(formatted('')).toBe('');
  expect(shown({ format: '%s', values: 'bare' })).toBe('"bare"');
});

test('format selects values by number or in order', () => {
  expect(formatted('%2$s %s %1$s %s', '"a"', '"b"')).toBe('b a a b');
  expect(formatted('%s', '"a"', '"b"')).toBe('a');
  expect(description('%s %s', '"a"')).toEqual([
    '["format"] format specifiers count must be <= arguments size',
  ]);
  for (const index of ['%2$s', '%0$s']) {
    expect(description(index, '"a"')).toEqual([
      '["format"] index must be >= 1 and <= arguments size',
    ]);
  }
});

test('format writes times and dates like Java', () => {
  const time = '{"time":"2024-02-03T14:05:09.007008009Z"}';
  const fields: readonly (readonly [string, string])[] = [
    ['%tH %tI %tk %tl %tM %tS %tL %tN', '14 02 14 2 05 09 007 007008009'],
    ['%tp %Tp %tz %tZ %ts %tQ', 'pm PM +0000 Z 1706969109 1706969109007'],
    ['%tB %TB %tb %th %tA %ta', 'February FEBRUARY Feb Feb Saturday Sat'],
    ['%tC %tY %ty %tj %tm %td %te', '20 2024 24 034 02 03 3'],
    ['%tR|%tT|%tr|%tD|%tF', '14:05|14:05:09|02:05:09 PM|02/03/24|2024-02-03'],
    ['%tc|%Tc', 'Sat Feb 03 14:05:09 Z 2024|SAT FEB 03 14:05:09 Z 2024'],
    ['%t|%-12tF|%12tT', '2024-02-03T14:05:09.007008009Z|2024-02-03  |    14:05:09'],
  ];
  for (const [format, expected] of fields) {
    expect(formatted(format.replaceAll('%', '%1$'), time)).toBe(expected);
  }
  const date = '{"date":"-0005-01-01"}';
  expect(formatted('%1$tY %1$ty %1$tC %1$tF %1$ta %1$t', date)).toBe(
    '0006 06 00 0006-01-01 Sun -0005-01-01',
  );
  for (const field of 'HIklMSLNpzZsQRTrc')
    expect(formatted(`%t${field}`, date)).toEqual([['values', 0]]);
  expect(formatted('%tY', '1')).toEqual([['values', 0]]);
});

test('format writes values as JSON of the old and the present version', () => {
  const value = '{"object":{"a":[1,1.0,{"date":"2020-01-01"}]}}';
  expect(formatted('%^', value)).toBe('{"a":[1,1.0,{"@date":"2020-01-01"}]}');
  const ref = '{"ref":{"keys":null},"id":"7"}';
  const [old, present] = ['class', 'collection'].map(
    (key) => `{"@ref":{"id":"7","${key}":{"@ref":{"id":"keys"}}}}`,
  );
  expect(formatted('%1$@ %1$^', ref)).toBe(`${old} ${present}`);
  expect(formatted('%-8^|%8@', '"a"', '1')).toBe('"a"     |       1');
});

test('format refuses values of the wrong type with their position', () => {
  const wrong: readonly (readonly [string, string])[] = [
    ['%d', '1.0'],
    ['%x', '"1"'],
    ['%f', '3'],
    ['%e', '3'],
    ['%g', 'null'],
    ['%s', '[1]'],
    ['%t', '"now"'],
  ];
  for (const [format, value] of wrong) {
    expect(formatted(`%s ${format}`, '""', value)).toEqual([['values', 1]]);
  }
  expect(description('%f', '3')).toEqual(['["values",0] Double expected, Integer provided.']);
  expect(shown({ format: 1, values: [] })).toEqual([`${ARGUMENT}["format"]`]);
});

test('format refuses invalid conversions like Java', () => {
  const none =
    '% %q %i %c %h %D %tq %5 %5. %5.d %.2d %-d %0d %++d %+\u0020d %-05d %#d %,x %+x %,e %#g %#s %05s %.2tH %#tH %5n %05% %.2% %-1$5d %<s %1$';
  for (const format of none.split(/ (?!d)/)) {
    expect(`${format} ${JSON.stringify(formatted(format, '1'))}`).toBe(`${format} [["format"]]`);
  }
  expect(description('a %5.q b')).toEqual(['["format"] Invalid conversion format \'%5.q\'.']);
  expect(description('100%')).toEqual(['["format"] Invalid conversion format \'%\'.']);
});

test('format limits width, precision and work', () => {
  const widest = LIMITS.formatWidthChars;
  expect(formatted(`%${widest}d`, '1')).toHaveLength(widest);
  expect(formatted(`%${widest + 1}d`, '1')).toEqual([['format']]);
  expect(formatted(`%.${LIMITS.formatPrecisionDigits + 1}f`, '1.5')).toEqual([['format']]);
  expect(formatted('%99999999999999999999d', '1')).toEqual([['format']]);
  const query = { format: { repeat: { repeat: '%1$1024d', number: 1024 }, number: 20 }, values: 1 };
  expect(shown(query, pureSession())).toEqual([`${ARGUMENT}[]`]);
});

test('format reads a long specifier only once', () => {
  const zeros = `%${'0'.repeat(500_000)}`;
  expect(formatted(zeros, '1')).toEqual([['format']]);
});
