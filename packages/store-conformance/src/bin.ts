#!/usr/bin/env node
import { runCommand } from './command/run-command.ts';
import { serveStore } from './processes/serve-store.ts';

// The kit starts this program with the first argument for a process of its own that opens a store.
const [, , first, ...rest] = process.argv;
if (first === '--open-store') await serveStore(rest);
else process.exitCode = await runCommand(process.argv.slice(2));
