import { isDeepStrictEqual } from 'node:util';

/** Whether two events, each as a line of JSON, are equal by rule 3: the same values, even with their keys in another order. */
export function hasSameContent(line: string, other: string): boolean {
  return line === other || isDeepStrictEqual(JSON.parse(line), JSON.parse(other));
}
