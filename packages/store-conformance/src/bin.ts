#!/usr/bin/env node
// The kit starts this program for its own processes: one that opens a store and loads no cases, and one that runs cases.
const [, , first, ...rest] = process.argv;
if (first === '--open-store') await (await import('./processes/serve-store.ts')).serveStore(rest);
else if (first === '--run-cases') {
  const [{ loadStore }, { serveCases }] = await Promise.all([
    import('./command/run-command.ts'),
    import('./command/case-process.ts'),
  ]);
  const [module = '', options = '{}'] = rest;
  serveCases({ ...(await loadStore(module)), ...JSON.parse(options) });
} else {
  const { runCommand } = await import('./command/run-command.ts');
  process.exitCode = await runCommand(process.argv.slice(2));
}

export {};
