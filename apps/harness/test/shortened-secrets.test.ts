import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@hansard/events';
import { issue, issuedSecrets, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';
import { put, uuid } from './import-files.ts';

const seed = Number(process.env.HANSARD_SEED ?? Math.floor(Math.random() * 1_000_000));
/** A part with this number of characters must not be shown. */
const partLength = 10;
const rounds = 40;

/** A transcript with secrets around the places where a title, a target and an error are cut. */
function transcript(): { readonly text: string; readonly secrets: readonly string[] } {
  const random = randomFrom(seed);
  const formats = issuedSecrets.filter(({ kind }) => kind !== 'private-key');
  const secrets: string[] = [];
  const lines: string[] = [];
  let parentUuid: string | null = null;
  const planted = (column: number) => {
    const format = formats[Math.floor(random() * formats.length)] as (typeof formats)[number];
    const { text, secret } = issue(format, random, 'any');
    secrets.push(secret);
    const before = 'word '.repeat(50).slice(0, Math.max(0, column - Math.floor(random() * text.length)));
    return `${before} ${text} and more words`;
  };
  const add = (type: string, message: JsonObject) => {
    const number = lines.length + 1;
    const timestamp = new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString();
    const place = { parentUuid, isSidechain: false, cwd: '/w', sessionId: 's' };
    parentUuid = uuid(number);
    lines.push(JSON.stringify({ type, ...place, message, uuid: parentUuid, timestamp }));
  };
  add('user', { role: 'user', content: planted(80) });
  for (let round = 0; round < rounds; round += 1) {
    const command = planted(200);
    const id = `call-${round}`;
    const content = [{ type: 'tool_use', id, name: 'Bash', input: { command } }];
    add('assistant', { id: `m${round}`, role: 'assistant', model: 'm', content });
    const result = { type: 'tool_result', tool_use_id: id, is_error: true, content: planted(200) };
    add('user', { role: 'user', content: [result] });
  }
  const content = [{ type: 'text', text: 'Done.' }];
  const usage = { input_tokens: 1, output_tokens: 1 };
  add('assistant', { id: 'm', role: 'assistant', model: 'm', content, usage, stop_reason: 'end_turn' });
  return { text: `${lines.join('\n')}\n`, secrets };
}

/** The secrets of which a part is in the files of a folder. */
function partsIn(folder: string, secrets: readonly string[]): string[] {
  const bytes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  return secrets.filter((secret) =>
    Array.from({ length: secret.length - partLength + 1 }, (_, at) => secret.slice(at, at + partLength)).some(
      (part) => bytes.includes(part),
    ),
  );
}

describe(`what is cut of a title, a target and an error (HANSARD_SEED=${seed})`, () => {
  it.each(['narrative', 'full'])('has no part of a secret in a %s import', async (fidelity) => {
    using line = commandLine();
    const { text, secrets } = transcript();
    const path = put(line, 's.jsonl', text);
    const answer = await line.hansard('import', path, '--task', 'a/b', '--fidelity', fidelity);
    expect(answer.code).toBe(0);
    expect(partsIn(join(line.cwd, '.projects'), secrets)).toEqual([]);
  });

  it('has no part of a secret that was recorded, and replaced later', async () => {
    using line = commandLine();
    const { text, secrets } = transcript();
    const path = put(line, 's.jsonl', text);
    writeFileSync(join(line.cwd, 'hansard.config.json'), '{"redact":false}');
    await line.hansard('import', path, '--task', 'a/b');
    expect(partsIn(join(line.cwd, '.projects'), secrets).length).toBeGreaterThan(rounds / 2);
    writeFileSync(join(line.cwd, 'hansard.config.json'), '{}');
    const redacted = await line.hansard('secrets', 'redact', '--yes');
    expect([redacted.code, redacted.err]).toEqual([0, '']);
    expect(partsIn(join(line.cwd, '.projects'), secrets)).toEqual([]);
  });
});
