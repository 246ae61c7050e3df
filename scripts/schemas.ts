import { fileURLToPath } from 'node:url';
import { envelopeJsonSchema, eventJsonSchema, taskJsonSchema } from '@hansard/events';
import { configJsonSchema } from '../packages/compose/src/index.ts';
import { describeShapes } from '../packages/events/src/types/json-schema.ts';

const root = new URL('../', import.meta.url);

/** Every committed file that is made of the zod schemas, as it should be: path and text. */
export async function committedSchemas(): Promise<Record<string, string>> {
  const schemas = {
    'packages/events/schema/event.json': eventJsonSchema(),
    'packages/events/schema/envelope.json': envelopeJsonSchema(),
    'packages/events/schema/task.json': taskJsonSchema(),
    'apps/harness/hansard.config.schema.json': configJsonSchema(),
  };
  const texts = Object.entries(schemas).map(([path, schema]) => [
    path,
    `${JSON.stringify(schema, null, 2)}\n`,
  ]);
  const files: string[][] = [...texts, ['packages/events/src/plain/shapes.ts', shapesSource()]];
  return Object.fromEntries(
    files.map(([path = '', text = '']) => [fileURLToPath(new URL(path, root)), text]),
  );
}

/** The shapes of what is recorded, for readers that have no zod: a line of the file for each known type. */
function shapesSource(): string {
  const { data, ...shapes } = describeShapes();
  const lines = Object.entries(data).map(([type, shape]) => `    '${type}': ${JSON.stringify(shape)},`);
  return [
    "import type { KnownEventType } from '../types/event.ts';",
    "import type { Shape } from './check-shape.ts';",
    '',
    '/** What must be recorded in which shape. Written by `pnpm schema` from the zod schemas. */',
    "export const shapes: Readonly<Record<'event' | 'envelope' | 'task', Shape>> & {",
    '  readonly data: Readonly<Record<KnownEventType, Shape>>;',
    '} = {',
    ...Object.entries(shapes).map(([name, shape]) => `  ${name}: ${JSON.stringify(shape)},`),
    '  data: {',
    ...lines,
    '  },',
    '};',
    '',
  ].join('\n');
}
