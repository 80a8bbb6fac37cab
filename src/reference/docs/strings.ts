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
    'Lengths and positions count code points, from 0. Patterns are those of Java, run in linear time: a pattern that needs to look back (`\\1`, lookaround) is refused as not valid.',
  docs: {
    concat: changed(
      'Joins strings, with a separator between them if one is given.',
      'Concat(["2026", "03", "01"], "-")',
    ),
    containsstr: {
      summary: 'Whether a string occurs in another.',
      result: 'Boolean',
      example: 'ContainsStr("kingfisher", "fish")',
    },
    startswith: {
      summary: 'Whether a string begins so.',
      result: 'Boolean',
      example: 'StartsWith("kingfisher", "king")',
    },
    endswith: {
      summary: 'Whether a string ends so.',
      result: 'Boolean',
      example: 'EndsWith("kingfisher", "king")',
    },
    findstr: {
      summary: 'Where a string first occurs, or -1; a start that lies outside counts as 0.',
      result: 'Integer',
      example: 'FindStr("banana", "an", 2)',
    },
    length: {
      summary: 'How many code points a string has.',
      result: 'Integer',
      example: 'Length("Zaïre 🦊")',
    },
    lowercase: changed('In small letters.', 'LowerCase("Red FOX")'),
    uppercase: changed('In capital letters.', 'UpperCase("straße")'),
    titlecase: changed(
      'Each word with a capital letter, the rest in small ones.',
      'TitleCase("the rED fox")',
    ),
    ltrim: changed('Without white space at the start.', 'LTrim("  fox ")'),
    rtrim: changed('Without white space at the end.', 'RTrim("  fox ")'),
    trim: changed('Without white space at both ends.', 'Trim("  fox ")'),
    repeat: changed(
      'The string several times over: twice unless said, at most 1024 times.',
      'Repeat("ab", 3)',
    ),
    space: changed('So many spaces, at most 1024.', 'Concat(["a", Space(3), "b"])'),
    replacestr: changed(
      'Every occurrence replaced by another string.',
      'ReplaceStr("banana", "an", "AN")',
    ),
    substring: {
      summary:
        'Part of a string: from a start, which counts from the end when negative, and of a length.',
      result: 'String',
      errors: [['invalid argument', 'the start lies outside, or the length is negative']],
      example: '[SubString("kingfisher", 4), SubString("kingfisher", -6, 4)]',
    },
    ngram: {
      summary:
        'All runs of neighbouring characters, of 1 and 2 unless said: what search indexes are made of.',
      result: 'Array of String',
      errors: [
        ['invalid argument', 'the sizes are below 1, in the wrong order or more than 1 apart'],
      ],
      example: 'NGram("fox", 2, 3)',
    },
    regexescape: changed(
      'The pattern that matches just this text.',
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
        'The matches of a pattern with their places; `end` is the last character of the match itself.',
      result: 'Array of Object',
      errors: [BAD_PATTERN],
      example: 'FindStrRegex("a1 b22", "[0-9]+")',
    },
    replacestrregex: {
      summary:
        'Every match of a pattern replaced, or only the first; `$1` stands for the first group.',
      result: 'String',
      errors: [
        BAD_PATTERN,
        ['invalid argument', 'the replacement names a group that the pattern lacks'],
      ],
      example: 'ReplaceStrRegex("2026-03-01", "(\\\\d+)-(\\\\d+)-(\\\\d+)", "$3.$2.$1")',
    },
    casefold: {
      summary:
        'A string in a form for comparing: case folded and normalised by Unicode, or only normalised. Of one value its result alone, of several an array.',
      result: 'String, or Array',
      errors: [['invalid argument', 'there is no such normaliser']],
      example: 'Casefold(["STRASSE", "Straße"])',
    },
    format: {
      summary:
        'Values put into a text by Java’s rules: `%d` Integers, `%f` Doubles, `%s` anything, `%tY` parts of times, `%^` JSON.',
      result: 'String',
      errors: [
        ['invalid argument', 'a conversion is unknown, a value is missing or of another type'],
      ],
      example: 'Format("%s: %,d birds, %.1f%% of all", "Heron", 12500, 62.5)',
    },
  },
};
