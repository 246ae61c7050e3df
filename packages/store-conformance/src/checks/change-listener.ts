const patience = 4_000;

export interface ChangeListener {
  /** The listener to pass to `watch`. */
  readonly listen: () => void;
  /** Waits for a call of the listener, after the last awaited one, at which the condition is true. */
  calledUntil(what: string, condition: () => Promise<boolean>): Promise<void>;
}

/** Lets a case wait for calls of a listener. After a few seconds without a call, the case fails. */
export function createChangeListener(): ChangeListener {
  let wasCalled = false;
  let wake = () => {};

  const nextCall = (what: string) =>
    new Promise<void>((resolve, reject) => {
      const giveUp = setTimeout(
        () => reject(new Error(`The listener was not called ${what} in ${patience} ms.`)),
        patience,
      );
      wake = () => {
        clearTimeout(giveUp);
        resolve();
      };
      if (wasCalled) wake();
    });

  return {
    listen: () => {
      wasCalled = true;
      wake();
    },
    async calledUntil(what, condition) {
      do {
        await nextCall(what);
        wasCalled = false;
      } while (!(await condition()));
    },
  };
}
