type EventTypes<Events> = { readonly [K in keyof Events]: Event };

/** An event target whose listeners know what comes: `Events` is a type of event by its name. */
export interface TypedEvents<Events extends EventTypes<Events>> extends EventTarget {
  addEventListener<K extends keyof Events & string>(
    type: K,
    listener: (event: Events[K]) => void,
    options?: AddEventListenerOptions | boolean,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  removeEventListener<K extends keyof Events & string>(
    type: K,
    listener: (event: Events[K]) => void,
    options?: EventListenerOptions | boolean,
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: EventListenerOptions | boolean,
  ): void;
}

/** Only the types differ: an override would be code that does nothing. */
export const TypedEvents = EventTarget as new <
  Events extends EventTypes<Events>,
>() => TypedEvents<Events>;
