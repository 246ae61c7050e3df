let count = 0;

/** The name of a schema that no other test of this process uses. */
export function newSchema(): string {
  count += 1;
  return `test_${process.pid}_${count}`;
}
