import type { JsonObject, JsonValue } from '@hansard/events';
import { preview } from '@hansard/events';
import { asCount, asObject, hasFields } from '../values/json-fields.ts';
import { contradictsSum, fieldOf, usageCounts, usageOf } from './usage-of.ts';

/** What cannot be read of the usage that a model message states; null if it states none, or if all of it can be read. */
export function unreadableUsage(stated: JsonValue | undefined): string | null {
  if (stated === undefined || stated === null) return null;
  const usage = asObject(stated);
  if (usage === undefined) return `The usage is ${preview(stated)}, and its call is not counted.`;
  if (!hasFields(usage)) return null;
  const wrong = usageCounts.flatMap((key) => {
    const value = fieldOf(usage, key);
    const isMain = key === 'input_tokens' || key === 'output_tokens';
    const isAbsent = value === undefined || (value === null && !isMain);
    return isAbsent || asCount(value) !== undefined ? [] : [`${key} is ${preview(value)}`];
  });
  if (usageOf(usage) !== undefined)
    return wrong.length > 0
      ? `A part of the usage is not counted: ${wrong.join(', ')}.`
      : contradiction(usage);
  const problem = wrong.length > 0 ? wrong.join(', ') : 'input_tokens or output_tokens is absent';
  return `The usage cannot be read, and its call is not counted: ${problem}.`;
}

function contradiction(usage: JsonObject): string | null {
  if (!contradictsSum(usage)) return null;
  return 'The times of the cache writes exceed their sum: the writes count without a time.';
}
