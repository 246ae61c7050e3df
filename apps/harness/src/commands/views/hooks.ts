import { interventionsOf, renderInterventions } from '@hansard/views';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView } from './session-view-command.ts';

export const addHooks: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'hooks chat/cafe',
    view({ index }) {
      const rows = interventionsOf(index);
      return { rows, text: renderInterventions(index, rows) };
    },
  });
