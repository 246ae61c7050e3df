import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleAnswers } from '../apps/harness/test/example-answers.ts';
import { root } from './workspace.ts';

// Writes the answers of commands into `docs/examples`. A test compares them: `pnpm docs:examples` when they differ.
process.env.TZ = 'UTC';
const folder = join(root, 'docs/examples');
const answers = await exampleAnswers();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const [name, text] of answers) writeFileSync(join(folder, name), text);
console.log(`wrote ${answers.size} files in ${folder}`);
