/** Holds who waits at it until it is opened. */
export class Gate {
  readonly opened: Promise<void>;
  open: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** Lets everything that is ready run: promises, then whatever they made ready. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
