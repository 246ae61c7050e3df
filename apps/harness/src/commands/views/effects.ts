import { effectsOf, renderCauses } from '@hansard/views';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView } from './session-view-command.ts';

export const addEffects: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'effects chat/cafe 12',
    words: 1,
    async view(log, [address = '']) {
      const { index } = log;
      const id = await log.findEventId(address);
      const rows = effectsOf(index, id);
      return { rows, text: renderCauses(index, rows) };
    },
  });
