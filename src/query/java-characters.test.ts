/** Characters, against Java. The same test runs in browsers. */
import { expect, test } from 'vitest';
import {
  hashOfChange,
  hashOfClass,
  JAVA_CHANGES,
  JAVA_CLASSES,
} from './testing/java-characters.ts';

test('letter case and normal forms of all characters are those of Unicode 13', () => {
  expect(JAVA_CHANGES.map(([name]) => [name, hashOfChange(name)])).toEqual(JAVA_CHANGES);
});

test('classes of patterns have the characters that they have in Java', () => {
  expect(JAVA_CLASSES.map(([name]) => [name, hashOfClass(name)])).toEqual(JAVA_CLASSES);
});
