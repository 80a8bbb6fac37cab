type EventTypes<Events> = { readonly [K in keyof Events]: Event };

type Listener<E extends Event> =
  | ((event: E) => void)
  | { readonly handleEvent: (event: E) => void }
  | null;

/** An event target with exactly these events. `Events` maps their names to their types. */
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

/** Only a cast, because only the types differ: overriding the methods would be code without effect. */
export const TypedEvents = EventTarget as new <
  Events extends EventTypes<Events>,
>() => TypedEvents<Events>;
