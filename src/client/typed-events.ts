type EventTypes<Events> = { readonly [K in keyof Events]: Event };

type Listener<E extends Event> =
  | ((event: E) => void)
  | { readonly handleEvent: (event: E) => void }
  | null;

/** An event target with these events and no others: `Events` is a type of event by its name. */
export interface TypedEvents<Events extends EventTypes<Events>> extends EventTarget {
  addEventListener<K extends keyof Events & string>(
    type: K,
    listener: Listener<Events[K]>,
    options?: AddEventListenerOptions | boolean,
  ): void;
  removeEventListener<K extends keyof Events & string>(
    type: K,
    listener: Listener<Events[K]>,
    options?: EventListenerOptions | boolean,
  ): void;
}

/** Only the types differ: an override would be code that does nothing. */
export const TypedEvents = EventTarget as new <
  Events extends EventTypes<Events>,
>() => TypedEvents<Events>;
