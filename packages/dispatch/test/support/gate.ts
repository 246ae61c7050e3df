/** Blocks everything that waits for `opened` until `open` is called. */
export class Gate {
  readonly opened: Promise<void>;
  open: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** Runs everything that is ready: promises, then what they made ready. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
