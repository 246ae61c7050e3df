const patience = 4_000;

export interface Bell {
  /** A listener to hand out. */
  readonly ring: () => void;
  /** Waits for a call of the listener (since the last one waited for) at which the condition holds. */
  heardUntil(what: string, condition: () => Promise<boolean>): Promise<void>;
}

/** Turns calls of a listener into something to wait for. Gives up after a few seconds: that is a failed case. */
export function createBell(): Bell {
  let rung = false;
  let wake = () => {};

  const nextRing = (what: string) =>
    new Promise<void>((resolve, reject) => {
      const giveUp = setTimeout(
        () => reject(new Error(`Nothing was heard ${what} in ${patience} ms.`)),
        patience,
      );
      wake = () => {
        clearTimeout(giveUp);
        resolve();
      };
      if (rung) wake();
    });

  return {
    ring: () => {
      rung = true;
      wake();
    },
    async heardUntil(what, condition) {
      do {
        await nextRing(what);
        rung = false;
      } while (!(await condition()));
    },
  };
}
