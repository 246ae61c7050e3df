import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsDoc } from './errors-doc.ts';
import { root } from './workspace.ts';

// Writes `docs/errors.md` from the declarations of the error families. A test compares them: `pnpm docs:errors` when they differ.
const path = join(root, 'docs/errors.md');
writeFileSync(path, errorsDoc());
console.log(`wrote ${path}`);
