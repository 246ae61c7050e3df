import { neutraliseControlsInLine } from '@hansard/events/plain';
import type { CliContext } from './context.ts';

const firstAfterMs = 1_000;
const everyMs = 250;

/** A progress line on a terminal. It appears after one second. */
export interface Progress {
  /** Reports how many are done, and of how many. */
  update(count: number, of?: number): void;
  /** Removes the line. */
  end(): void;
}

/** `what`: what is counted, or a function that words it at each update. */
export function createProgress(
  context: CliContext,
  what: string | (() => string),
  now: () => number = Date.now,
): Progress {
  // A dumb terminal has no lines that can be written again.
  if (context.stderr.isTTY !== true || context.env.TERM === 'dumb') return { update() {}, end() {} };
  const label = () => neutraliseControlsInLine(typeof what === 'string' ? what : what());
  const startedAt = now();
  let nextAt = startedAt + firstAfterMs;
  let shown = false;
  return {
    update(count, of) {
      // It can have become a pager.
      if (context.stderr.isTTY !== true) return;
      const time = now();
      if (time < nextAt) return;
      nextAt = time + everyMs;
      shown = true;
      const all = of === undefined ? '' : ` of ${of.toLocaleString('en')}`;
      context.stderr.write(
        `\r\u001b[2K${label()}: ${count.toLocaleString('en')}${all} (${Math.round((time - startedAt) / 1_000)} s)`,
      );
    },
    end() {
      if (shown && context.stderr.isTTY === true) context.stderr.write('\r\u001b[2K');
    },
  };
}
