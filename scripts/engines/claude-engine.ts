import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * How long a test of the engine may take. It starts in a second, and in many on a machine that has much else to do;
 * only what fails waits for so long.
 */
export const enginePatienceMs = 180_000;

/**
 * The executable of the Claude Agent SDK's engine that belongs to this machine, as the SDK itself finds it; null where
 * it isn't installed. `pnpm test` installs it into this folder.
 */
function claudeEngine(): string | null {
  const sdk = resolved(import.meta.url, '@anthropic-ai/claude-agent-sdk');
  if (sdk === null) return null;
  const file = process.platform === 'win32' ? 'claude.exe' : 'claude';
  const platform = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
  return resolved(sdk, `${platform}/${file}`) ?? resolved(sdk, `${platform}-musl/${file}`);
}

/** The same, for tests that can't do without. */
export function requireClaudeEngine(): string {
  const engine = claudeEngine();
  if (engine !== null) return engine;
  throw new Error(
    'The engine of the Claude Agent SDK is not installed in scripts/engines. Run `pnpm test`, which installs it, ' +
      'or `pnpm install` in scripts/engines.',
  );
}

/**
 * The whole environment of an engine in a test: nothing of it is inherited but PATH. It has a home of its own in
 * `folder`, a key that is none, and no other network than the scripted API at `apiUrl`. What `extra` sets to undefined
 * is left out: `{ ANTHROPIC_API_KEY: undefined }` is an engine without a key.
 */
export function cleanClaudeEnvironment(
  folder: string,
  apiUrl: string,
  extra: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    TMPDIR: folder,
    ANTHROPIC_BASE_URL: apiUrl,
    ANTHROPIC_API_KEY: 'not-a-key',
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    ...extra,
  };
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function resolved(from: string, specifier: string): string | null {
  try {
    const path = createRequire(from).resolve(specifier);
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}
