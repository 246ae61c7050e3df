import { runCli } from './cli.ts';
import { endingSignals, exitCode } from './terminal/cli-error.ts';
import type { CliContext } from './terminal/context.ts';

const stop = new AbortController();
/** What Ctrl-C stops in place of the command. */
const interrupt: NonNullable<CliContext['interrupt']> = { now: null };
for (const [signal, { reason, code }] of Object.entries(endingSignals)) {
  process.on(signal, () => {
    if (signal === 'SIGINT' && !stop.signal.aborted && interrupt.now?.() === true) return;
    // The first signal ends running work in order; a second one ends the process.
    if (stop.signal.aborted) process.exit(code);
    stop.abort(reason);
  });
}
const outputClosed = new AbortController();
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A recording continues without a reader, so the process does not end here.
  if (outputClosed.signal.aborted) return;
  outputClosed.abort();
  // `hansard show … | head` closes the pipe early, which is not an error.
  if (error.code === 'EPIPE') return;
  // A terminal that is closed sends SIGHUP and takes no more output.
  if (error.code === 'EIO' && stop.signal.aborted) return;
  process.stderr.write(`hansard: The output can't be written: ${error.message}\n`);
  process.exitCode = exitCode.failed;
});
process.stderr.on('error', () => {
  // Without standard error there is nowhere to report an error.
});

const code = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  cwd: process.cwd(),
  env: process.env,
  signal: stop.signal,
  interrupt,
  readSignal: AbortSignal.any([stop.signal, outputClosed.signal]),
});
if (code !== exitCode.done) process.exitCode = code;
// Everything is recorded and closed: a timer or socket of a plugin must not keep the process running. The callback runs
// after the output is written; an error of the output is reported before the next turn of the event loop.
process.stdout.write('', () => setImmediate(() => process.exit()));
