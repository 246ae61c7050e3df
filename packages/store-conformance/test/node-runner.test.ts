import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { storeConformanceCases } from '../src/index.ts';
import { appliesTo } from '../src/run/conformance-case.ts';
import { modelCapabilities } from './open-model.ts';

describe('the kit under node:test', () => {
  it('runs the same cases as under any other runner', async () => {
    const file = fileURLToPath(new URL('./model.node-test.ts', import.meta.url));
    const args = ['--conditions=@hansard/source', '--test', '--test-reporter=tap', file];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 240_000 });
    const { length } = storeConformanceCases.filter((one) => appliesTo(one, modelCapabilities));
    const count = (outcome: string) => Number(new RegExp(`^# ${outcome} (\\d+)$`, 'm').exec(stdout)?.[1]);
    expect(count('pass') + count('skipped')).toBe(length);
    expect(count('skipped')).toBeLessThan(45);
    expect(stdout).toMatch(/^# fail 0$/m);
  });
});
