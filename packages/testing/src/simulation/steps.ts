/** Work that waits for a value wherever it yields one: at once for a store without promises, later for another one. */
export type Steps<T> = Generator<unknown, T, unknown>;

/** The value of a call, which the store of the simulation may promise. */
export function* got<T>(value: T): Steps<T> {
  return (yield value) as T;
}

export function isSteps(value: unknown): value is Steps<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'throw' in value;
}

/** For a store without promises. */
export function runNow<T>(steps: Steps<T>): T {
  let result = steps.next();
  while (result.done !== true) result = steps.next(result.value);
  return result.value;
}

export async function runLater<T>(steps: Steps<T>): Promise<T> {
  let result = steps.next();
  while (result.done !== true) {
    let value: unknown;
    try {
      value = await result.value;
    } catch (error) {
      result = steps.throw(error);
      continue;
    }
    result = steps.next(value);
  }
  return result.value;
}
