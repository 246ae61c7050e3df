import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reliabilityDoc } from './reliability-doc.ts';
import { root } from './workspace.ts';

// Writes `docs/reliability.md` from the figures of the campaigns. A test compares them: `pnpm docs:reliability` when they differ.
const path = join(root, 'docs/reliability.md');
writeFileSync(path, reliabilityDoc());
console.log(`wrote ${path}`);
