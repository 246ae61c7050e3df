import { causesOf, renderCauses } from '@hansard/views';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView } from './session-view-command.ts';

export const addWhy: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'why chat/cafe 12',
    words: 1,
    async view(log, [address = '']) {
      const { index } = log;
      const id = await log.findEventId(address);
      const rows = causesOf(index, id);
      return { rows, text: renderCauses(index, rows) };
    },
  });
