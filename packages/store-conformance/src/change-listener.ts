const patience = 4_000;

export interface ChangeListener {
  /** The listener to pass to `watchEvents`. */
  readonly listen: () => void;
  /** Waits for a call of the listener (since the last one waited for) at which the condition holds. */
  calledUntil(what: string, condition: () => Promise<boolean>): Promise<void>;
}

/** Turns calls of a listener into something to wait for. Gives up after a few seconds: that is a failed case. */
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
