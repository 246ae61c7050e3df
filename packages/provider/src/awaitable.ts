/** A method may answer at once or with a promise; who holds only the interface awaits. */
export type Awaitable<T> = T | Promise<T>;
