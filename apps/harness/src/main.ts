import { runCli } from './cli.ts';

const stop = new AbortController();
process.on('SIGINT', () => {
  // The first Ctrl-C ends what runs in good order; a second one ends the process.
  if (stop.signal.aborted) process.exit(130);
  stop.abort('Ctrl-C');
});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `hansard events … | head` closes the pipe early; that is no fault.
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  cwd: process.cwd(),
  env: process.env,
  signal: stop.signal,
});
