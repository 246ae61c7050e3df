import { describe, expect, it } from 'vitest';
import { assertDispatchId, assertTaskDir } from '../src/index.ts';

const refused = expect.objectContaining({ code: 'STORE_INVALID_PATH' });

describe('assertTaskDir', () => {
  it.each(['a', 'research-lab/tasks/route-models', 'a b/Müller 会議/x.y_z', 'v1.2/tasks/3'])(
    'takes %s',
    (taskDir) => {
      expect(() => assertTaskDir(taskDir)).not.toThrow();
    },
  );

  it.each([
    '',
    '/',
    '/etc',
    'a/',
    'a//b',
    '..',
    '../a',
    'a/../b',
    'a/..',
    '.',
    './a',
    '.hidden/a',
    'a\\..\\b',
    'C:/a',
    'a\u0000b',
    'a\nb',
    'nul',
    'COM1/x',
    'aux.txt',
    'a.',
    'a ',
    'a/b*',
    'x'.repeat(256),
    '会'.repeat(86),
    'a/\ud800',
  ])('refuses %j', (taskDir) => {
    expect(() => assertTaskDir(taskDir)).toThrow(refused);
  });

  it('says which part is wrong, and why', () => {
    expect(() => assertTaskDir('a/../b')).toThrow(
      '"a/../b" can\'t be a task: its part ".." starts with a dot.',
    );
    expect(() => assertTaskDir(undefined as never)).toThrow('it is not a string');
  });
});

describe('assertDispatchId', () => {
  it('takes ULIDs and other ids that can name a file', () => {
    for (const id of ['01JM0000000000000000000000', 'a', 'run_1.2-x'])
      expect(() => assertDispatchId(id)).not.toThrow();
  });

  it.each(['', '.', '..', 'a/b', 'a\\b', '.a', 'a:b', 'a b', 'a\u0000', 'con', 'nul.json', 'x'.repeat(129)])(
    'refuses %j',
    (id) => {
      expect(() => assertDispatchId(id)).toThrow(refused);
    },
  );
});
