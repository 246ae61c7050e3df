#!/usr/bin/env node
// Imports nothing before the check: an older Node fails while it links the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  await import('./main.ts');
} else {
  process.stderr.write(`hansard needs Node 22.18 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 2;
}

export {};
