import { describe, expect } from 'vitest';
import { browsers, print } from './support/browser-test.ts';
import { createNote, openNotes, readTexts, verify } from './support/notes.ts';

/** Chromium's private windows cannot be recognized. WebKit without its storage features reports `unknown` for all windows. */
const PRIVATE = {
  chromium: 'best-effort',
  firefox: 'session',
  webkit: 'unknown',
  'webkit-storage': 'session',
};
const USUAL = {
  chromium: 'best-effort',
  firefox: 'best-effort',
  webkit: 'unknown',
  'webkit-storage': 'best-effort',
};

describe.for(browsers)('%s', ([kind, test]) => {
  test('a private window keeps data until it is closed, and `persistence` reports that where the browser shows it (F38)', async ({
    browser,
  }) => {
    const tab = await browser.start({ isPrivate: true });
    await openNotes(tab, 'private');
    expect(await createNote(tab, { id: '1', text: 'for now' })).toBe('acknowledged');
    await tab.reload();
    await openNotes(tab, 'private');
    expect(await readTexts(tab, ['1'])).toEqual(['for now']);
    expect(await verify(tab)).toEqual([]);
    const persistence = await tab.run(() => db.persistence);
    await browser.close();

    const usual = await browser.start();
    await openNotes(usual, 'private');
    expect(await readTexts(usual, ['1'])).toEqual([null]);
    const found = { private: persistence, usual: await usual.run(() => db.persistence) };
    print(browser, 'persistence', {
      ...found,
      userAgent: await usual.run(() => navigator.userAgent),
    });
    expect(found).toEqual({ private: PRIVATE[kind], usual: USUAL[kind] });
  });
});
