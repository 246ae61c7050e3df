import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.ts';

// Run after `changeset version`: a template that an author copies names the release that it came with.
const versions = new Map(
  globSync('{packages,plugins,apps}/*/package.json', { cwd: root }).map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(root, path), 'utf8'));
    return [name as string, version as string];
  }),
);
for (const path of globSync('packages/*/template/package.json', { cwd: root })) {
  const before = readFileSync(join(root, path), 'utf8');
  const after = before.replace(/"(@hansard\/[^"]+)": "\^[^"]+"/g, (range, name: string) => {
    const version = versions.get(name);
    return version === undefined ? range : `"${name}": "^${version}"`;
  });
  writeFileSync(join(root, path), after);
}
