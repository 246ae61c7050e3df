import { type EventData, messageOf } from '@hansard/events';

/** The most causes of an error that its message names, each the cause of the one before. */
const mostCauses = 5;

/**
 * A thrown value as the data of a `harness:error`. Reads properties, because an error of another realm is not an `Error` here. The first line of the message
 * names the causes, which a narrative keeps, too. Never throws.
 */
export function describeFailure(error: unknown): EventData<'harness:error'> {
  const causes = causesOf(error);
  const [code] = [error, ...causes].flatMap((one) => textAt(one, 'code') ?? []);
  const stack = textAt(error, 'stack');
  const message = messageOf(error);
  const [first = '', ...others] = message.split('\n');
  const reasons = causes.map((one) => messageOf(one).split('\n', 1)[0] ?? '');
  const named = reasons.filter((reason, at) => reasons.indexOf(reason) === at && !message.includes(reason));
  return {
    message: [[first, ...named].join(': '), ...others].join('\n'),
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
  };
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let one = valueAt(error, 'cause'); one != null; one = valueAt(one, 'cause'))
    if (causes.push(one) === mostCauses) break;
  return causes;
}

function textAt(error: unknown, key: 'code' | 'stack'): string | undefined {
  const value = valueAt(error, key);
  return typeof value === 'string' ? value : undefined;
}

function valueAt(error: unknown, key: 'code' | 'stack' | 'cause'): unknown {
  try {
    return (error as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  } catch {
    // A proxy that was revoked, or a getter that throws.
    return undefined;
  }
}
