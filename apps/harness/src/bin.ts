#!/usr/bin/env node
// Imports nothing before the check: an older Node fails while it links the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  // Compiled code is kept in Node's own cache folder. NODE_COMPILE_CACHE names another one, NODE_DISABLE_COMPILE_CACHE=1 turns it off.
  (await import('node:module')).enableCompileCache();
  await import('./main.ts');
} else {
  process.stderr.write(`hansard needs Node 22.18 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 2;
}

export {};
