import { deliveryDiffs, renderDeliveryDiffs } from '@hansard/views';
import { assertEvent } from '../../session/read-session-log.ts';
import type { AddCommand } from '../../terminal/command.ts';
import { explainSaying } from './explain-saying.ts';
import { addSessionView } from './session-view-command.ts';

export const addDiff: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'diff chat/cafe 01JM8Z7T3V0000000000000000',
    view(index, [id = '']) {
      assertEvent(index, id);
      const rows = explainSaying(() => deliveryDiffs(index, id));
      return { rows, text: renderDeliveryDiffs(index, rows) };
    },
  });
