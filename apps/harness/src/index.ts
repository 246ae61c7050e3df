export { runCli } from './cli.ts';
export { type ExitCode, exitCode } from './cli-error.ts';
export { configJsonSchema, configSchema, type HarnessConfig } from './config.ts';
export type { CliContext } from './context.ts';
