import { fileURLToPath } from 'node:url';
import { envelopeJsonSchema, eventJsonSchema, taskJsonSchema } from '@hansard/events';
import { configJsonSchema } from '../apps/harness/src/config.ts';

const root = new URL('../', import.meta.url);

/** Every committed JSON Schema as it should be: path and text. */
export async function committedSchemas(): Promise<Record<string, string>> {
  const schemas = {
    'packages/events/schema/event.json': eventJsonSchema(),
    'packages/events/schema/envelope.json': envelopeJsonSchema(),
    'packages/events/schema/task.json': taskJsonSchema(),
    'apps/harness/hansard.config.schema.json': configJsonSchema(),
  };
  return Object.fromEntries(
    Object.entries(schemas).map(([path, schema]) => [
      fileURLToPath(new URL(path, root)),
      `${JSON.stringify(schema, null, 2)}\n`,
    ]),
  );
}
