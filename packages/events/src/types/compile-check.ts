import { z } from 'zod';
import { isPlainObject } from '../json/json.ts';
import { jsonObjectSchema, jsonValueSchema } from '../json/json-value-schema.ts';
import { costSchema, countSchema, idSchema, isId, millisecondsSchema } from './fields.ts';

/**
 * A quick yes to a value that holds nothing but JSON and passes a schema. A no means little: ask the schema, which also
 * has the reasons.
 */
export type QuickCheck = (value: unknown) => boolean;

const isDuration: QuickCheck = (value) => Number.isFinite(value) && (value as number) >= 0;

/** Of a value that holds nothing but JSON, the schemas of JSON have nothing left to find out. */
const ownChecks: ReadonlyMap<z.ZodType, QuickCheck> = new Map<z.ZodType, QuickCheck>([
  [jsonValueSchema, () => true],
  [jsonObjectSchema, isPlainObject],
  [idSchema, isId],
  [countSchema, (value) => Number.isSafeInteger(value) && (value as number) >= 0],
  [millisecondsSchema, isDuration],
  [costSchema, isDuration],
]);

/** Makes a function of a schema, ten times as quick. What it has no quicker way for, it asks the schema. */
export function compileCheck(schema: z.ZodType): QuickCheck {
  const own = ownChecks.get(schema);
  if (own !== undefined) return own;
  if (hasMore(schema)) return (value) => schema.safeParse(value).success;
  if (schema instanceof z.ZodString) return (value) => typeof value === 'string';
  if (schema instanceof z.ZodObject) return compileObject(schema.shape);
  if (schema instanceof z.ZodArray) {
    const isItem = compileCheck(schema.element as z.ZodType);
    return (value) => Array.isArray(value) && value.every((item) => isItem(item));
  }
  return (value) => schema.safeParse(value).success;
}

/** Whether a schema asks for more than its kind does. */
function hasMore({ def }: z.ZodType): boolean {
  const { checks, format, coerce, catchall } = def as unknown as Readonly<Record<string, unknown>>;
  const isBare = checks === undefined || (Array.isArray(checks) && checks.length === 0);
  return !isBare || format !== undefined || coerce === true || catchall !== undefined;
}

function compileObject(shape: Readonly<Record<string, z.ZodType>>): QuickCheck {
  const fields = Object.entries(shape).map(([key, schema]) => {
    const mayBeAbsent = schema.def.type === 'optional';
    const isValid = compileCheck(mayBeAbsent ? (schema as z.ZodOptional<z.ZodType>).unwrap() : schema);
    return { key, mayBeAbsent, isValid };
  });
  return (value) => {
    if (!isPlainObject(value)) return false;
    for (const { key, mayBeAbsent, isValid } of fields) {
      const field = value[key];
      if (field === undefined ? !mayBeAbsent : !isValid(field)) return false;
    }
    return true;
  };
}
