#!/usr/bin/env node
// The kit starts this program with the first argument for a process of its own that opens a store. Such a process loads no cases.
const [, , first, ...rest] = process.argv;
if (first === '--open-store') await (await import('./processes/serve-store.ts')).serveStore(rest);
else {
  const { runCommand } = await import('./command/run-command.ts');
  process.exitCode = await runCommand(process.argv.slice(2));
}

export {};
