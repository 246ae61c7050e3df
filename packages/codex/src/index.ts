export { type CodexLog, openCodexRollout } from './codex-log.ts';
export { codexShares, detectCodexFormat } from './detect-codex-format.ts';
