import { causesOf, renderCauses } from '@hansard/views';
import { assertEvent } from '../../session/read-session-log.ts';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView } from './session-view-command.ts';

export const addWhy: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'why chat/cafe 01JM8Z7T3V0000000000000000',
    view(index, [id = '']) {
      assertEvent(index, id);
      const rows = causesOf(index, id);
      return { rows, text: renderCauses(index, rows) };
    },
  });
