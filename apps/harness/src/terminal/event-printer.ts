import { type CapturedEvent, encodeEvent } from '@hansard/events';
import { AgentNames, eventLine, renderEventLine } from '@hansard/views';
import { type CliContext, printLine, terminalWidth } from './context.ts';

/** Prints events of one dispatch, each for people, or as its line of JSON. */
export interface EventPrinter {
  /** Takes in what an event that is not printed tells of the agents' names. */
  learn(event: CapturedEvent): void;
  /** Agents go by the names that events before this one told. */
  print(event: CapturedEvent): void;
}

export function createEventPrinter(context: CliContext, json: boolean): EventPrinter {
  const names = new AgentNames();
  return {
    learn: (event) => names.learn(event),
    print(event) {
      const width = terminalWidth(context);
      printLine(context, json ? encodeEvent(event) : renderEventLine(eventLine(event, names), { width }));
    },
  };
}
