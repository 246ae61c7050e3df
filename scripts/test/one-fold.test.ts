import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../workspace.ts';

const sources = globSync('{packages,plugins,apps,examples}/*/src/**/*.{ts,tsx}', { cwd: root });
const filesWith = (text: string) =>
  sources.filter((file) => readFileSync(join(root, file), 'utf8').includes(text)).sort();

it('the facts of a dispatch are folded by one object, which one function makes', () => {
  expect(filesWith('new DispatchFacts(')).toEqual(['packages/facts/src/dispatch-facts.ts']);
});

it.each(['DispatchTotals', 'ModelUsages', 'TitleFinder', 'LoggedEnding', 'CallRun'])(
  'nothing but the facts of a dispatch uses their part %s',
  (part) => {
    const outside = filesWith(`new ${part}(`).filter((file) => !file.startsWith('packages/facts/src/'));
    expect(outside).toEqual([]);
    expect(readFileSync(join(root, 'packages/facts/src/index.ts'), 'utf8')).not.toContain(part);
  },
);
