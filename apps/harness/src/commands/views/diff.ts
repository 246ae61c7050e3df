import { deliveryDiffs, renderDeliveryDiffs } from '@hansard/views';
import type { AddCommand } from '../../terminal/command.ts';
import { explainSaying } from './explain-saying.ts';
import { addSessionView } from './session-view-command.ts';

export const addDiff: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'diff chat/cafe 12',
    words: 1,
    async view(log, [address = '']) {
      const { index } = log;
      const id = await log.findEventId(address);
      const rows = explainSaying(() => deliveryDiffs(index, id));
      return { rows, text: renderDeliveryDiffs(index, rows) };
    },
  });
