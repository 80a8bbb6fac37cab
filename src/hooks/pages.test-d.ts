/** What `usePages` shows, by its `map`, in every framework. Checked by `npm run types`, never run. */
import { q, type DocumentRef, type FaunaTime, type StoredDocument } from '../index.ts';
import * as react from './react.ts';
import * as solid from './solid.ts';
import * as svelte from './svelte.ts';
import * as vue from './vue.ts';

interface Note {
  title: string;
}

type Same<A, B> = [A, B] extends [B, A] ? true : false;
const check = <A, B>(_same: Same<A, B>): void => undefined;

const set = q.Documents(q.Collection<Note>('notes'));

export function refs(): void {
  type Shown = readonly DocumentRef<Note>[] | undefined;
  const { data } = react.usePages(set, { size: 20 });
  check<typeof data, Shown>(true);
  const inSolid = solid.usePages(() => set);
  check<typeof inSolid.data, Shown>(true);
  const inSvelte = svelte.usePages(() => set);
  check<typeof inSvelte.data, Shown>(true);
  const inVue = vue.usePages(() => set);
  check<typeof inVue.data.value, Shown>(true);
}

export function documents(): void {
  type Shown = readonly StoredDocument<Note>[] | undefined;
  const { data } = react.usePages(set, { map: (ref) => q.Get(ref) });
  check<typeof data, Shown>(true);
  const inSolid = solid.usePages(
    () => set,
    () => ({ size: 20, map: (ref) => q.Get(ref) }),
  );
  check<typeof inSolid.data, Shown>(true);
  const inSvelte = svelte.usePages(() => set, { map: (ref) => q.Get(ref) });
  check<typeof inSvelte.data, Shown>(true);
  const inVue = vue.usePages(() => set, { map: (ref) => q.Get(ref) });
  check<typeof inVue.data.value, Shown>(true);
}

export function parts(): void {
  const { data } = react.usePages(set, {
    map: (ref) => ({ ref, title: q.Select(['data', 'title'], q.Get(ref)) }),
  });
  check<typeof data, readonly { ref: DocumentRef<Note>; title: string }[] | undefined>(true);
  // @ts-expect-error The elements are refs of notes, which have no such member.
  react.usePages(set, { map: (ref) => q.Select(['data', 'titel'], q.Get(ref)) });
}

export function tuples(): void {
  const latest = q.Match<[at: FaunaTime, ref: DocumentRef<Note>]>(q.Index('notes_by_time'));
  type Shown = readonly { at: FaunaTime; note: StoredDocument<Note> }[] | undefined;
  const { data } = react.usePages(latest, { map: (at, ref) => ({ at, note: q.Get(ref) }) });
  check<typeof data, Shown>(true);
  const inSolid = solid.usePages(
    () => latest,
    () => ({ map: (at, ref) => ({ at, note: q.Get(ref) }) }),
  );
  check<typeof inSolid.data, Shown>(true);
  const inSvelte = svelte.usePages(() => latest, {
    map: (at, ref) => ({ at, note: q.Get(ref) }),
  });
  check<typeof inSvelte.data, Shown>(true);
  const inVue = vue.usePages(latest, { map: (at, ref) => ({ at, note: q.Get(ref) }) });
  check<typeof inVue.data.value, Shown>(true);
  const whole = react.usePages(latest, { size: 20 });
  check<typeof whole.data, readonly [at: FaunaTime, ref: DocumentRef<Note>][] | undefined>(true);
}
