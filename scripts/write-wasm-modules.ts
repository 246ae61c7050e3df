import { writeFileSync } from 'node:fs';
import { committedModules } from './wasm-modules.ts';

// Writes the binary form of WebAssembly text. A test compares them: `pnpm wasm` when it says drift.
for (const [path, text] of Object.entries(await committedModules())) {
  writeFileSync(path, text);
  console.log(`wrote ${path}`);
}
