import type { Family, FormDocs } from '../form-docs.ts';

const BAD_PATTERN = ['invalid argument', 'the pattern is not valid'] as const;
const changed = (summary: string, example: string): FormDocs => ({
  summary,
  result: 'String',
  example,
});

export const strings: Family = {
  file: 'strings',
  title: 'Strings',
  about:
    'Lengths and positions are in code points; positions start at 0. Patterns have the syntax of Java and run in linear time: a pattern that needs backtracking (`\\1`, lookaround) is rejected as invalid.',
  docs: {
    concat: changed(
      'Joins strings, with a separator between them if one is given.',
      'Concat(["2026", "03", "01"], "-")',
    ),
    containsstr: {
      summary: 'Whether a string contains another.',
      result: 'Boolean',
      example: 'ContainsStr("kingfisher", "fish")',
    },
    startswith: {
      summary: 'Whether a string starts with another.',
      result: 'Boolean',
      example: 'StartsWith("kingfisher", "king")',
    },
    endswith: {
      summary: 'Whether a string ends with another.',
      result: 'Boolean',
      example: 'EndsWith("kingfisher", "king")',
    },
    findstr: {
      summary:
        'The position at which a string first occurs in another, or -1. A `start` out of range counts as 0.',
      result: 'Integer',
      example: 'FindStr("banana", "an", 2)',
    },
    length: {
      summary: 'The number of code points.',
      result: 'Integer',
      example: 'Length("Zaïre 🦊")',
    },
    lowercase: changed('Converts to lower case.', 'LowerCase("Red FOX")'),
    uppercase: changed('Converts to upper case.', 'UpperCase("straße")'),
    titlecase: changed(
      'Capitalizes each word; all other letters become lower case.',
      'TitleCase("the rED fox")',
    ),
    ltrim: changed('Removes white space at the start.', 'LTrim("  fox ")'),
    rtrim: changed('Removes white space at the end.', 'RTrim("  fox ")'),
    trim: changed('Removes white space at both ends.', 'Trim("  fox ")'),
    repeat: changed('Repeats a string: twice by default, at most 1024 times.', 'Repeat("ab", 3)'),
    space: changed('A string of this many spaces, at most 1024.', 'Concat(["a", Space(3), "b"])'),
    replacestr: changed(
      'Replaces every occurrence of a string.',
      'ReplaceStr("banana", "an", "AN")',
    ),
    substring: {
      summary:
        'A part of a string, given by start and length. A negative start counts from the end.',
      result: 'String',
      errors: [['invalid argument', 'the start is out of range, or the length is negative']],
      example: '[SubString("kingfisher", 4), SubString("kingfisher", -6, 4)]',
    },
    ngram: {
      summary:
        'All substrings of the given lengths, 1 and 2 by default; used to build search indexes.',
      result: 'Array of String',
      errors: [
        ['invalid argument', 'the sizes are below 1, in the wrong order or more than 1 apart'],
      ],
      example: 'NGram("fox", 2, 3)',
    },
    regexescape: changed(
      'A pattern that matches exactly this text.',
      'ContainsStrRegex("1+1", RegexEscape("1+1"))',
    ),
    containsstrregex: {
      summary: 'Whether a pattern matches anywhere in a string.',
      result: 'Boolean',
      errors: [BAD_PATTERN],
      example: 'ContainsStrRegex("note 101", "\\\\d{3}")',
    },
    findstrregex: {
      summary:
        'The matches of a pattern with their positions; `end` is the position of the last character of the match.',
      result: 'Array of Object',
      errors: [BAD_PATTERN],
      example: 'FindStrRegex("a1 b22", "[0-9]+")',
    },
    replacestrregex: {
      summary: 'Replaces every match of a pattern, or only the first; `$1` is the first group.',
      result: 'String',
      errors: [
        BAD_PATTERN,
        ['invalid argument', 'the replacement names a group that the pattern does not have'],
      ],
      example: 'ReplaceStrRegex("2026-03-01", "(\\\\d+)-(\\\\d+)-(\\\\d+)", "$3.$2.$1")',
    },
    casefold: {
      summary:
        'Normalizes a string for comparison: Unicode case folding and normalization, or normalization only. One value gives one result, several give an array.',
      result: 'String, or Array',
      errors: [['invalid argument', 'there is no such normalizer']],
      example: 'Casefold(["STRASSE", "Straße"])',
    },
    format: {
      summary:
        'Formats values by the rules of Java: `%d` for Integers, `%f` for Doubles, `%s` for any value, `%tY` for parts of times, `%^` for JSON.',
      result: 'String',
      errors: [
        ['invalid argument', 'a conversion is unknown, or a value is missing or of the wrong type'],
      ],
      example: 'Format("%s: %,d birds, %.1f%% of all", "Heron", 12500, 62.5)',
    },
  },
};
