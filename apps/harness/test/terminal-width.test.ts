import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type CliContext, terminalWidth } from '../src/terminal/context.ts';

const widthOf = (stdout: { readonly isTTY?: boolean; readonly columns?: number }) =>
  terminalWidth({ stdout: Object.assign(new PassThrough(), stdout) } as unknown as CliContext);

describe('the width of lines', () => {
  it('is that of the terminal, and not bounded by one that says it has none', () => {
    expect(widthOf({ isTTY: true, columns: 80 })).toBe(80);
    expect(widthOf({ isTTY: true, columns: 0 })).toBeUndefined();
    expect(widthOf({ columns: 80 })).toBeUndefined();
  });
});
