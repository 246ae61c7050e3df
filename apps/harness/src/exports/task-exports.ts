import type { CapturedEvent } from '@hansard/events';
import { type SessionFormatId, sessionFormats } from '@hansard/formats';
import { gameStreamsExport } from './game-streams-export.ts';
import { otlpExport } from './otlp-export.ts';
import type { StoreExport, TaskExport } from './task-export.ts';
import { pagesExport, taskReportExports } from './task-report-exports.ts';
import { trainingExports } from './training-exports.ts';

const sessionLogExports: readonly TaskExport[] = [
  sessionLogExport('session-v1', 'a session log of the older dialect'),
  sessionLogExport('session-v2', 'a session log'),
];

/** Every format of `hansard export`, in the order of its help. */
export const taskExports: readonly (TaskExport | StoreExport)[] = [
  ...sessionLogExports,
  otlpExport,
  ...taskReportExports,
  pagesExport,
  gameStreamsExport,
  ...trainingExports,
];

/** A session as a log of one of the two dialects. The whole session is kept in memory. */
function sessionLogExport(id: SessionFormatId, description: string): TaskExport {
  return {
    id,
    description,
    scope: 'latest',
    target: 'text',
    isJson: true,
    async write({ envelopes, readEvents }, target) {
      const events: CapturedEvent[] = [];
      for (const { dispatchId } of envelopes) {
        for await (const event of readEvents(dispatchId)) events.push(event);
      }
      const { text, leftOut, diagnostics } = sessionFormats[id].write(events);
      await target.text.write(text);
      const notes = Object.entries(leftOut).map(
        ([type, count]) => `${type} omitted (${count}): ${id} can't represent it.`,
      );
      notes.push(...diagnostics.map(({ code, eventId, message }) => `${eventId} ${code}: ${message}`));
      if (envelopes.some(({ fidelity }) => fidelity === 'narrative'))
        notes.unshift('The dispatch was recorded as a narrative: tool input and output are not in the log.');
      return {
        summary: { leftOut, diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic })) },
        notes,
      };
    },
  };
}
