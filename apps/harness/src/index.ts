export { runCli } from './cli.ts';
export { configJsonSchema, configSchema, type HarnessConfig } from './config.ts';
export { type ExitCode, exitCode } from './terminal/cli-error.ts';
export type { CliContext } from './terminal/context.ts';
