import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 2 ** 31));
const seeded = `(HANSARD_SEED=${seed})`;

/** A part of each secret. It is in no message of Hansard. */
const canary = 'hunter2canary';

/** Keys that hold secrets, with what they may hold. */
const secrets: readonly object[] = [
  { apiKey: canary },
  { api_key: canary },
  { password: canary },
  { accessToken: canary },
  { credentials: { user: 'ann', value: canary } },
  { authorization: `Bearer ${canary}` },
  { env: { ANTHROPIC_API_KEY: canary, OTHER: canary } },
  { headers: { 'x-own': canary } },
  { url: `postgres://ann:${canary}@db.example/log` },
  { connection: [`https://${canary}@db.example/`] },
  { anything: `sk-ant-api03-${canary}` },
  { anything: `ghp_${canary}` },
  { header: `Basic ${canary}` },
];

/** Wrong configurations around a secret. */
const places: readonly ((secret: object) => unknown)[] = [
  (secret) => secret,
  (secret) => ({ store: { plugin: '@hansard/store-jsonfile', config: secret } }),
  (secret) => ({ store: { plugin: '@hansard/store-jsonfile', confg: secret } }),
  (secret) => ({ store: { plugin: '@hansard/store-jsonfile', ...secret } }),
  (secret) => ({ store: secret }),
  (secret) => ({ plugins: [secret] }),
  (secret) => ({ plugins: ['@hansard/hook-limits', { plugin: 7, config: secret }] }),
  (secret) => ({ plugins: [{ plugin: '@hansard/agent-claude', config: secret }] }),
  (secret) => ({ plugins: [{ plugin: './own', config: { level: 'low', ...secret } }] }),
  (secret) => ({ limits: secret }),
  (secret) => ({ context: secret }),
  (secret) => ({ prices: secret }),
  (secret) => ({ loopDetector: secret }),
  (secret) => ({ communication: [{ plugin: '@hansard/comm-console', config: secret }] }),
];

const commands: readonly (readonly string[])[] = [
  ['ls'],
  ['plugins'],
  ['plugins', '--json'],
  ['run', 'Go.', '--agent', 'own', '--task', 'a/b'],
];

describe(`a secret in the configuration ${seeded}`, () => {
  it.each(secrets.map((secret) => [JSON.stringify(secret), secret] as const))(
    'is in no output, wherever it is misplaced: %s',
    async (_, secret) => {
      using cli = commandLine();
      mkdirSync(join(cli.cwd, 'own'));
      writeFileSync(
        join(cli.cwd, 'own/plugin.json'),
        JSON.stringify({
          id: 'own',
          provides: 'AgentProvider',
          entry: './none.mjs',
          apiVersion: 1,
          configSchema: {
            type: 'object',
            properties: { level: { enum: ['high'] } },
            additionalProperties: false,
          },
        }),
      );
      for (const place of places) {
        writeFileSync(join(cli.cwd, 'hansard.config.json'), JSON.stringify(place(secret)));
        for (const args of commands) {
          const { signal } = new AbortController();
          const { code, out, err } = await cli.start(args, { signal, env: { HANSARD_DEBUG: '1' } });
          expect([args, place(secret), code, out + err]).toEqual([
            args,
            place(secret),
            expect.toBeOneOf([0, 1, 2]),
            expect.not.stringContaining(canary),
          ]);
        }
      }
    },
  );

  it('is in no output when the file is damaged at any place, which is reported by its line', async () => {
    using cli = commandLine();
    const random = randomFrom(seed);
    const whole = JSON.stringify(
      {
        store: '@hansard/store-jsonfile',
        plugins: [{ plugin: 'x', config: { [canary]: canary, b: canary } }],
      },
      null,
      2,
    );
    const lines = new Set<string>();
    for (let round = 0; round < 150; round += 1) {
      const at = Math.floor(random() * whole.length);
      const damage = ['', 'x', '"', '\n', ',', '\\'][round % 6] ?? '';
      writeFileSync(join(cli.cwd, 'hansard.config.json'), whole.slice(0, at) + damage + whole.slice(at + 1));
      const { signal } = new AbortController();
      const { err } = await cli.start(['ls'], { signal, env: { HANSARD_DEBUG: '1' } });
      if (!/is not JSON/.test(err)) continue;
      // Parts of it would be as bad.
      expect(err).not.toMatch(/hunter|unter2|nter2ca|2canary|canary/);
      lines.add(/in line \d+/.exec(err)?.[0] ?? '');
    }
    expect(lines.size).toBeGreaterThan(5);
  });
});
