/** Runs work under one name sequentially, in the order of the calls. Other names do not wait. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(work);
    // The next work waits for the end only. The caller receives the result or the error.
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
