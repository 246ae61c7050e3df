import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Base, findBase } from '../src/configuration.ts';

let top: string;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'hansard-base-')));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

function folder(...parts: readonly string[]): string {
  const path = join(top, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

describe('the folder that a command works in', () => {
  it('is the first one with a log or a configuration, from the current one up', () => {
    const deep = folder('project', 'src', 'deep');
    const project = dirname(dirname(deep));
    expect(findBase(deep, undefined)).toEqual({ folder: deep, from: 'none' } satisfies Base);
    folder('project', '.projects');
    expect(findBase(deep, undefined)).toEqual({ folder: project, from: 'search' });
    expect(findBase(project, undefined)).toEqual({ folder: project, from: 'search' });
    writeFileSync(join(project, 'src', 'hansard.config.json'), '{}');
    expect(findBase(deep, undefined)).toEqual({ folder: join(project, 'src'), from: 'search' });
  });

  it('is the named one, by itself or by its .projects', () => {
    const log = folder('other', '.projects');
    const cwd = folder('project');
    for (const named of [log, dirname(log), '../other', '../other/.projects'])
      expect(findBase(cwd, named)).toEqual({ folder: dirname(log), from: 'option' });
    expect(() => findBase(cwd, 'none')).toThrow(`There is no folder ${join(cwd, 'none')}.`);
  });

  it.skipIf(process.getuid?.() !== 0)('is none above that another user could have prepared', () => {
    const deep = folder('shared', 'mine');
    const log = folder('shared', '.projects');
    chownSync(log, 12_345, 12_345);
    expect(() => findBase(deep, undefined)).toThrow(`${log} belongs to another user, so it is not used.`);
    expect(findBase(deep, dirname(log)).folder).toBe(dirname(log));
    expect(findBase(dirname(log), undefined).folder).toBe(dirname(log));
  });
});
