import { defineComponent, h, ref } from 'vue';

/** An example that can be edited and run. Each run creates a database in the page and drops it afterwards. */
export const Playground = defineComponent({
  props: { query: { type: String, required: true }, isAda: Boolean },
  setup({ query, isAda }) {
    const source = ref(query);
    const answer = ref('');
    const isOpen = ref(false);
    const isRunning = ref(false);
    const run = async (): Promise<void> => {
      isRunning.value = true;
      try {
        const { answerOf } = await import('./playground-database.ts');
        answer.value = await answerOf(source.value, isAda);
      } finally {
        isRunning.value = false;
      }
    };
    const open = (): void => {
      isOpen.value = true;
      void run();
    };
    return () =>
      isOpen.value
        ? h('div', { class: 'playground' }, [
            h('textarea', {
              'aria-label': 'Query',
              spellcheck: false,
              rows: source.value.split('\n').length + 1,
              value: source.value,
              onInput: ({ target }: Event) => {
                if (target instanceof HTMLTextAreaElement) source.value = target.value;
              },
              onKeydown: (event: KeyboardEvent) => {
                if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
                event.preventDefault();
                void run();
              },
            }),
            h('button', { type: 'button', disabled: isRunning.value, onClick: run }, 'Run'),
            h('pre', { 'aria-live': 'polite' }, isRunning.value ? '…' : answer.value),
          ])
        : h('button', { type: 'button', class: 'playground-open', onClick: open }, 'Run it here');
  },
});
