import { writeFileSync } from 'node:fs';
import { narrativeDoc } from './narrative-doc.ts';

// Writes `docs/narrative.md` from the rules of `@hansard/events`. A test compares them: `pnpm docs:narrative` when they differ.
writeFileSync(new URL('../docs/narrative.md', import.meta.url), narrativeDoc());
