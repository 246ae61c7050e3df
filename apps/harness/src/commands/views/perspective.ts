import { perspectiveOf, renderPerspective } from '@hansard/views';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView } from './session-view-command.ts';

export const addPerspective: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'perspective chat/cafe jill',
    words: 1,
    view(log, [agent = '']) {
      const { index } = log;
      const rows = perspectiveOf(index, log.findAgent(agent).agentId);
      return { rows, text: renderPerspective(index, rows) };
    },
  });
