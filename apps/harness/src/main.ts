import { runCli } from './cli.ts';
import { exitCode } from './terminal/cli-error.ts';

const stop = new AbortController();
/** How the process is asked to end: what the log says of it, and the exit code that shells expect. */
const requests = { SIGINT: ['Ctrl-C', 130], SIGTERM: ['SIGTERM', 143], SIGHUP: ['SIGHUP', 129] } as const;
for (const [signal, [reason, code]] of Object.entries(requests)) {
  process.on(signal, () => {
    // The first request ends what runs in good order; a second one ends the process.
    if (stop.signal.aborted) process.exit(code);
    stop.abort(reason);
  });
}
const outputClosed = new AbortController();
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A recording goes on without its audience, so the process is not ended here.
  if (outputClosed.signal.aborted) return;
  outputClosed.abort();
  // `hansard events … | head` closes the pipe early; that is no fault.
  if (error.code === 'EPIPE') return;
  process.stderr.write(`hansard: The output can't be written: ${error.message}\n`);
  process.exitCode = exitCode.failed;
});
process.stderr.on('error', () => {
  // There is nobody left to tell.
});

const code = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  cwd: process.cwd(),
  env: process.env,
  signal: stop.signal,
  readSignal: AbortSignal.any([stop.signal, outputClosed.signal]),
});
if (code !== exitCode.done) process.exitCode = code;
// All is recorded and closed: a timer or socket that a plugin left behind must not keep the command from ending.
// Once what was written is out, an error of the output is told before the next turn of the event loop.
process.stdout.write('', () => setImmediate(() => process.exit()));
