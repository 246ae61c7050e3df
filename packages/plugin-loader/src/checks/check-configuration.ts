import { findNotJson, isPlainObject, type JsonObject } from '@hansard/events';
import type { PluginManifest } from '../plugin-manifest.ts';

const draft = 'https://json-schema.org/draft/2020-12/schema';

/** The allowed values of each keyword. A schema with another keyword or value is not plain. */
const objectKeywords: Readonly<Record<string, (value: unknown) => boolean>> = {
  $schema: (value) => value === draft,
  type: (value) => value === 'object',
  properties: isPlainObject,
  additionalProperties: (value) => value === false,
  title: isString,
  description: isString,
};

const fieldKeywords: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) => isString(value) && Object.hasOwn(types, value),
  enum: (value) =>
    Array.isArray(value) && new Set(value).size === value.length && value.every(isString) && value.length > 0,
  minLength: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  minimum: Number.isFinite,
  default: isScalar,
  title: isString,
  description: isString,
};

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isString,
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
};

/**
 * The configuration as the plugin receives it: a copy with the defaults of `configSchema` filled in; `{}` if there is
 * none. Without a `configSchema` nothing is checked. `format` is not checked.
 * @throws PLUGIN_CONFIG_SCHEMA_INVALID
 * @throws PLUGIN_CONFIG_INVALID naming each path, what is wrong and the value, unless it looks like a secret
 */
export async function checkConfiguration(
  { id, configSchema }: PluginManifest,
  config: unknown = {},
): Promise<unknown> {
  if (configSchema === undefined) return config;
  const filled = fillPlainConfiguration(configSchema, config);
  if (filled !== null) return filled;
  // To load the library and compile a schema takes longer than `hansard ls` as a whole, so it is loaded only when needed.
  const { checkByJsonSchema } = await import('./json-schema-check.ts');
  return checkByJsonSchema(id, configSchema, config);
}

/**
 * A copy of a configuration with the defaults of its schema filled in, where both are plain: the schema is an object of
 * strings, numbers and booleans, and the configuration fits it. Null where either is not; `checkByJsonSchema` decides then.
 */
export function fillPlainConfiguration(schema: Record<string, unknown>, config: unknown): JsonObject | null {
  const fields = plainFields(schema);
  if (fields === null || !isPlainObject(config) || findNotJson(config) !== null) return null;
  const filled = structuredClone(config);
  for (const [name, field] of fields) if (filled[name] === undefined) addDefault(filled, name, field);
  const isKnown = (name: string) => fields.has(name) || schema.additionalProperties !== false;
  const fits = [...fields].every(([name, field]) => filled[name] === undefined || isOf(field, filled[name]));
  return fits && Object.keys(filled).every(isKnown) ? (filled as JsonObject) : null;
}

interface PlainField {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly default?: unknown;
}

function plainFields(schema: Record<string, unknown>): ReadonlyMap<string, PlainField> | null {
  if (schema.type !== 'object' || !hasOnly(schema, objectKeywords)) return null;
  const fields = Object.entries((schema.properties ?? {}) as Record<string, unknown>);
  const isPlain = fields.every(
    ([name, field]) => !(name in Object.prototype) && isPlainObject(field) && hasOnly(field, fieldKeywords),
  );
  return isPlain ? new Map(fields as [string, PlainField][]) : null;
}

function hasOnly(
  schema: Record<string, unknown>,
  keywords: Readonly<Record<string, (value: unknown) => boolean>>,
): boolean {
  return Object.entries(schema).every(
    ([keyword, value]) => Object.hasOwn(keywords, keyword) && keywords[keyword]?.(value) === true,
  );
}

function addDefault(config: Record<string, unknown>, name: string, field: PlainField): void {
  if (field.default !== undefined) config[name] = field.default;
}

function isOf(
  { type, enum: allowed, minLength = 0, minimum = -Infinity }: PlainField,
  value: unknown,
): boolean {
  if (type !== undefined && types[type]?.(value) !== true) return false;
  if (allowed !== undefined && !allowed.includes(value)) return false;
  // JSON Schema counts code points.
  if (typeof value === 'string') return minLength === 0 || [...value].length >= minLength;
  return typeof value !== 'number' || value >= minimum;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isScalar(value: unknown): boolean {
  return isString(value) || Number.isFinite(value) || typeof value === 'boolean';
}
