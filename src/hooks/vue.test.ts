/** On a server there is no window, no worker and no database. */
import { createSSRApp, defineComponent, h } from 'vue';
import { renderToString } from 'vue/server-renderer';
import { expect, test } from 'vitest';
import { q } from '../index.ts';
import { provideBurrow, useMutation, usePages, useQuery, useSession, useSync } from './vue.ts';

test('on a server, composables render their initial state', async () => {
  const notes = q.Documents(q.Collection('notes'));
  const Everything = defineComponent(() => {
    const received = [
      useQuery(q.Count(notes)).isLoading,
      useQuery(undefined).isLoading,
      usePages(notes).isLoading,
      useMutation((text: string) => q.Create(q.Collection('notes'), { data: { text } })).state,
      useSync().state,
      useSession().state,
    ];
    return () => h('i', JSON.stringify(received.map((each) => each.value ?? null)));
  });
  const database = () => Promise.reject(new Error('A server opens nothing.'));
  const app = createSSRApp(
    defineComponent(() => {
      provideBurrow({ database });
      return () => h(Everything);
    }),
  );
  const html = await renderToString(app);
  expect(html).toBe('<i>[true,false,true,&quot;idle&quot;,null,&quot;opening&quot;]</i>');
});

test('a composable without a provider throws an error that says what to do', async () => {
  const alone = createSSRApp(
    defineComponent(() => {
      const { state } = useSession();
      return () => state.value;
    }),
  );
  alone.config.warnHandler = () => undefined;
  await expect(renderToString(alone)).rejects.toThrow(
    'No component above has called provideBurrow()',
  );
});
