import { writeFileSync } from 'node:fs';
import { committedSchemas } from './schemas.ts';

// Writes the JSON Schemas that are generated from the zod schemas. A test compares them: `pnpm schema` when it says drift.
for (const [path, schema] of Object.entries(await committedSchemas())) {
  writeFileSync(path, schema);
  console.log(`wrote ${path}`);
}
