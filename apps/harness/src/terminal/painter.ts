import { styleText } from 'node:util';
import type { Ink } from '@hansard/views';
import type { CliContext } from './context.ts';

const styles = {
  position: 'dim',
  agent: 'magenta',
  word: 'cyan',
  strong: 'bold',
  dim: 'dim',
  bad: 'red',
  notice: 'yellow',
  added: 'green',
  removed: 'red',
} as const satisfies Record<Ink, Parameters<typeof styleText>[0]>;

/** Whether people read the output in colours: on a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`. */
function hasColours({ stdout, env }: Pick<CliContext, 'stdout' | 'env'>): boolean {
  return stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** Adds colours to a harmless text, or returns it unchanged. */
export function createPainter(
  context: Pick<CliContext, 'stdout' | 'env'>,
): (ink: Ink, text: string) => string {
  if (!hasColours(context)) return (_, text) => text;
  return (ink, text) => styleText(styles[ink], text, { validateStream: false });
}
