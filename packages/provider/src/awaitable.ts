/** A method may return a value or a promise. A caller that knows only the interface awaits it. */
export type Awaitable<T> = T | Promise<T>;
