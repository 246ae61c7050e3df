/** A promise that a test settles by hand. */
export interface Gate<T> {
  readonly opened: Promise<T>;
  open(value: T): void;
}

export function createGate<T>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
