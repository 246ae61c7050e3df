import type { LogPart } from '../json-lines/log-parts.ts';
import { asBlocks } from '../messages/map-block.ts';
import { isToolResult } from '../messages/map-tool-result.ts';
import { asObject } from '../values/json-fields.ts';
import { recordedTime } from '../values/recorded-time.ts';

/** The time of a prompt, in milliseconds since 1970; -Infinity for any other record. */
export function promptTime(part: LogPart): number {
  const record = part.kind === 'record' ? asObject(part.record) : undefined;
  if (record?.type !== 'user' || record.toolUseResult !== undefined) return Number.NEGATIVE_INFINITY;
  const isResult = asBlocks(asObject(record.message)?.content)?.some(isToolResult) ?? true;
  return isResult ? Number.NEGATIVE_INFINITY : (recordedTime(record) ?? Number.NEGATIVE_INFINITY);
}
