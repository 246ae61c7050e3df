export { runCli } from './cli.ts';
export { type ExitCode, exitCode } from './terminal/cli-error.ts';
export type { CliContext } from './terminal/context.ts';
