import type { JsonValue } from '@hansard/events';
import { preview } from '@hansard/events';
import { asCount, asObject, hasFields } from '../values/json-fields.ts';
import { usageOf } from './inferences.ts';

const counts = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

/** What cannot be read of the usage that a model message states; null if it states none, or if all of it can be read. */
export function unreadableUsage(stated: JsonValue | undefined): string | null {
  if (stated === undefined || stated === null) return null;
  const usage = asObject(stated);
  if (usage === undefined) return `The usage is ${preview(stated)}, and its call is not counted.`;
  if (!hasFields(usage)) return null;
  const wrong = counts.flatMap((key) => {
    const value = usage[key];
    const isAbsent = value === undefined || (value === null && key.startsWith('cache_'));
    return isAbsent || asCount(value) !== undefined ? [] : [`${key} is ${preview(value)}`];
  });
  if (usageOf(usage) !== undefined)
    return wrong.length === 0 ? null : `A part of the usage is not counted: ${wrong.join(', ')}.`;
  const problem = wrong.length > 0 ? wrong.join(', ') : 'input_tokens or output_tokens is absent';
  return `The usage cannot be read, and its call is not counted: ${problem}.`;
}
