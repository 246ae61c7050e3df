import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { diagramPattern, packageFloors, renderFloors } from './package-floors.ts';
import { root } from './workspace.ts';

// Writes the diagram of packages into README.md. A test compares it: `pnpm docs:floors` when they differ.
const path = join(root, 'README.md');
const text = readFileSync(path, 'utf8');
writeFileSync(
  path,
  text.replace(
    diagramPattern,
    (_, start: string, _old: string, end: string) => start + renderFloors(packageFloors()) + end,
  ),
);
