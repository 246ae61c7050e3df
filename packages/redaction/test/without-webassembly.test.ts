import { spawnSync } from 'node:child_process';
import { createRedactor } from '@hansard/redaction';
import { issue, issuedSecrets, randomFrom } from '@hansard/testing';
import { expect, it } from 'vitest';

const built = new URL('../dist/index.js', import.meta.url).href;
const program = `
  import { createRedactor } from '${built}';
  const { text } = createRedactor();
  const texts = JSON.parse(process.argv[1]);
  console.log(JSON.stringify([typeof WebAssembly, texts.map((one) => text(one))]));`;

it('a process without WebAssembly replaces the same secrets', () => {
  const random = randomFrom(7);
  const texts = issuedSecrets.map((issued) => `Say ${issue(issued, random).text} to nobody.`);
  const expected = texts.map((one) => createRedactor().text(one));
  expect(expected.filter(({ counts }) => Object.keys(counts).length === 0)).toEqual([]);
  const args = ['--jitless', '--input-type=module', '--eval', program, JSON.stringify(texts)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(['undefined', expected]);
});
