import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';

interface Limits {
  readonly least?: number;
  readonly most?: number;
}

/** A parameter of the query that is a whole number; null if it is absent. @throws HTTPException, 400 */
export function wholeNumber(context: Context, name: string, { least = 0, most }: Limits = {}): number | null {
  const text = context.req.query(name);
  if (text === undefined) return null;
  const value = parse(text);
  if (value === null || value < least || (most !== undefined && value > most))
    throw new HTTPException(400, {
      message: `${name} must be a whole number from ${least}${most === undefined ? '' : ` to ${most}`}.`,
    });
  return value;
}

/** A part of the path, or a header, that is a position. @throws HTTPException, 400 */
export function onePart(text: string): number {
  const value = parse(text);
  if (value === null) throw new HTTPException(400, { message: 'A position is a whole number from 0.' });
  return value;
}

function parse(text: string): number | null {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}
