import { findNotJson, isPlainObject } from '../json/json.ts';

/** The part of JSON Schema that the schemas of events use. */
export interface Shape {
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  /** Of a record: any text is a name. */
  readonly propertyNames?: { readonly type: 'string' };
  readonly additionalProperties?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
}

type ShapeCheck = (value: unknown) => boolean;

/** Compiles a shape to a function. It gives the same answer as the zod schema of the shape. */
export function compileShape(shape: Shape): ShapeCheck {
  const { type } = shape;
  const choices =
    shape.anyOf ??
    shape.oneOf ??
    (Array.isArray(type) ? type.map((one) => ({ ...shape, type: one })) : undefined);
  if (choices !== undefined) {
    const checks = choices.map(compileShape);
    return (value) => checks.some((check) => check(value));
  }
  switch (type) {
    case 'string':
      return compileString(shape);
    case 'integer':
      return compileNumber(shape, Number.isSafeInteger);
    case 'number':
      return compileNumber(shape, Number.isFinite);
    case 'array':
      return compileArray(shape);
    case 'object':
      if (shape.additionalProperties !== undefined) return compileRecord(shape.additionalProperties);
      return shape.properties === undefined ? isJsonObject : compileObject(shape.properties, shape.required);
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'null':
      return (value) => value === null;
    case undefined:
      return isJson;
    default:
      throw new TypeError(`A shape has the unknown type ${type}.`);
  }
}

function compileRecord(values: Shape): ShapeCheck {
  const check = compileShape(values);
  return (value) => isPlainObject(value) && Object.values(value).every(check);
}

function compileString({ const: only, enum: allowed, pattern, minLength = 0 }: Shape): ShapeCheck {
  const regex = pattern === undefined ? null : new RegExp(pattern);
  return (value) =>
    typeof value === 'string' &&
    value.length >= minLength &&
    (only === undefined || value === only) &&
    (allowed === undefined || allowed.includes(value)) &&
    (regex === null || regex.test(value));
}

function compileNumber(
  { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity }: Shape,
  isOfType: ShapeCheck,
): ShapeCheck {
  return (value) =>
    isOfType(value) &&
    (value as number) >= minimum &&
    (value as number) > exclusiveMinimum &&
    (value as number) <= maximum;
}

function compileArray({ items = {}, minItems = 0 }: Shape): ShapeCheck {
  const isItem = compileShape(items);
  return (value) => Array.isArray(value) && value.length >= minItems && value.every((item) => isItem(item));
}

function compileObject(
  properties: Readonly<Record<string, Shape>>,
  required: readonly string[] = [],
): ShapeCheck {
  const fields = Object.entries(properties).map(([key, shape]) => {
    return { key, mayBeAbsent: !required.includes(key), check: compileShape(shape) };
  });
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return fields.every(({ key, mayBeAbsent, check }) => {
      const field = (value as Record<string, unknown>)[key];
      return field === undefined ? mayBeAbsent : check(field);
    });
  };
}

function isJson(value: unknown): boolean {
  return findNotJson(value) === null;
}

function isJsonObject(value: unknown): boolean {
  return isPlainObject(value) && isJson(value);
}
