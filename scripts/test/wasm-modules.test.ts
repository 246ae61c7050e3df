import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { committedModules } from '../wasm-modules.ts';

const modules = await committedModules();

describe('the committed WebAssembly', () => {
  it.each(Object.entries(modules))('%s is what its text says (else: pnpm wasm)', (path, text) => {
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});
