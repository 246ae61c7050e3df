/** Lets work under one name happen in the order of the calls, one after the other; other names don't wait for it. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(work);
    // Who waits next wants to know that this is over, not how it went: that is told to the caller.
    const over = result.then(
      () => {},
      () => {},
    );
    this.#last.set(name, over);
    void over.then(() => {
      if (this.#last.get(name) === over) this.#last.delete(name);
    });
    return result;
  }
}
