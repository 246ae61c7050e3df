import * as z from 'zod/mini';
import { findNotJson, isPlainObject, type JsonObject, type JsonValue } from './json.ts';

/** Any JSON value. Values that JSON cannot hold (NaN, a Date, a function …) are refused, not altered. */
export const jsonValueSchema = z.custom<JsonValue>(
  (value) => findNotJson(value) === null,
  'not a JSON value',
);

/** A plain object that holds only JSON values. */
export const jsonObjectSchema = z.custom<JsonObject>(
  (value) => isPlainObject(value) && findNotJson(value) === null,
  'not a plain object of JSON values',
);
