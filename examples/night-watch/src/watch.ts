import { openHarness } from '@hansard/compose';
import { createWatchman } from './watchman.ts';

const [file = 'server.log'] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort('Ctrl-C'));

const harness = await openHarness({
  cwd: process.cwd(),
  env: process.env,
  signal: stop.signal,
  load: 'record',
  packageDirs: [import.meta.dirname],
  onNote: (line) => process.stderr.write(`${line}\n`),
});
const { dispatchId, status, cost } = await harness.run({
  task: 'house/night-watch',
  role: 'watchman',
  agent: createWatchman(file),
  prompt: `Look through ${file}.`,
  fidelity: 'full',
});
process.stdout.write(`${dispatchId} ${status}${cost === null ? '' : ` $${cost}`}\n`);
await harness.close();
