import { didYouMean } from '@hansard/events';
import type { z } from 'zod';

/** The parts of a JSON Schema that define its keys. */
interface KeySchema {
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly items?: KeySchema;
  readonly anyOf?: readonly KeySchema[];
}

/** "Did you mean …" for each unknown key that resembles a key of the JSON Schema at the same place; '' if there is none. */
export function mistypedKeys(error: z.ZodError, schema: Readonly<Record<string, unknown>>): string {
  return unknownKeys(error.issues, [])
    .map(({ path, key }) => ({ key, meant: didYouMean(key, keysAt([schema as KeySchema], path)) }))
    .filter(({ meant }) => meant !== undefined)
    .map(({ key, meant }) => `Did you mean "${meant}" instead of "${key}"?`)
    .join(' ');
}

interface UnknownKey {
  readonly path: readonly PropertyKey[];
  readonly key: string;
}

function unknownKeys(issues: readonly z.core.$ZodIssue[], place: readonly PropertyKey[]): UnknownKey[] {
  return issues.flatMap((issue) => {
    const path = [...place, ...issue.path];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ path, key }));
    return issue.code === 'invalid_union' ? issue.errors.flatMap((errors) => unknownKeys(errors, path)) : [];
  });
}

function keysAt(schemas: readonly KeySchema[], path: readonly PropertyKey[]): string[] {
  const all = schemas.flatMap((schema) => [schema, ...(schema.anyOf ?? [])]);
  const [key, ...rest] = path;
  if (key === undefined) return all.flatMap(({ properties }) => Object.keys(properties ?? {}));
  const below = all.map(({ properties, items }) =>
    typeof key === 'number' ? items : properties?.[String(key)],
  );
  return keysAt(
    below.filter((schema) => schema !== undefined),
    rest,
  );
}
