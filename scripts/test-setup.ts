import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// A test never reads or writes the settings of the person who runs it.
const home = mkdtempSync(join(tmpdir(), 'hansard-test-home-'));
process.env.HOME = home;
// Commands print local times. A test of another zone sets it by itself.
process.env.TZ = 'UTC';
process.env.USERPROFILE = home;
process.env.XDG_CONFIG_HOME = join(home, '.config');
process.env.CLAUDE_CONFIG_DIR = join(home, '.claude');
for (const name of Object.keys(process.env)) {
  if (/^(ANTHROPIC|OPENAI)_|_API_KEY$/.test(name)) delete process.env[name];
}
afterAll(() => rmSync(home, { recursive: true, force: true }));
