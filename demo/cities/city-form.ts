import type { App } from '../shell/app.ts';
import { button, field, fill, h, submitting, WORDED } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { isChangedMeanwhile, updateCity, type CityDocument } from './city-queries.ts';

/** A form that changes a city as the current account. */
export function cityForm(
  app: App,
  latest: () => CityDocument | undefined,
  edit: (editing: boolean) => void,
): HTMLElement {
  const { ts, data, ref } = latest() ?? { ts: 0, data: undefined, ref: undefined };
  let seen = ts;
  const { name, altName, population } = inputsFor(data);
  const problem = h('p', { class: 'problem', role: 'alert' });
  const submit = async (): Promise<void> => {
    fill(problem);
    try {
      await updateCity(app.accounts.client, ref?.id ?? '', seen, {
        name: name.value.trim(),
        altName: altName.value.trim(),
        population: population.valueAsNumber,
      });
      app.say('Saved.');
      edit(false);
    } catch (error) {
      if (isChangedMeanwhile(error)) seen = latest()?.ts ?? seen;
      fill(problem, isChangedMeanwhile(error) ? CHANGED : explain(error));
    }
  };
  const form = h(
    'form',
    {
      class: 'card',
      'data-testid': 'city-form',
      on: {
        submit: submitting(submit),
        keydown: (event) => {
          if (event.key === 'Escape') edit(false);
        },
      },
    },
    field('Name', name),
    field('Other name', altName),
    field('Population', population),
    problem,
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'submit', 'data-testid': 'save' }, 'Save'),
      button('Cancel', () => edit(false), { class: 'quiet' }),
    ),
  );
  queueMicrotask(() => name.focus());
  return form;
}

const inputsFor = (data: CityDocument['data'] | undefined) => ({
  name: h('input', {
    value: data?.name,
    ...WORDED,
    maxlength: 200,
    'data-testid': 'edit-name',
  }),
  altName: h('input', { value: data?.altName, maxlength: 200 }),
  population: h('input', {
    type: 'number',
    min: 0,
    max: 100_000_000,
    step: 1,
    required: true,
    value: data?.population,
    'data-testid': 'edit-population',
  }),
});

const CHANGED =
  'Someone else changed this city while you were editing it. The current version is shown above. Save again to overwrite it.';
