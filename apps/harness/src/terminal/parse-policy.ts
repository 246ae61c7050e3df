import { type ContextPolicy, parseContextPolicy } from '@hansard/prompt';
import { InvalidArgumentError } from 'commander';

/** A context policy, as an option's value. */
export function parsePolicy(text: string): ContextPolicy {
  try {
    return parseContextPolicy(text);
  } catch (error) {
    if (error instanceof TypeError)
      throw new InvalidArgumentError(`${error.message} Such as last:20 or faded:8000.`);
    throw error;
  }
}
