import { perspectiveOf, renderPerspective } from '@hansard/views';
import { findAgent } from '../../session/read-session-log.ts';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView } from './session-view-command.ts';

export const addPerspective: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'perspective chat/cafe jill',
    view(index, [agent = '']) {
      const rows = perspectiveOf(index, findAgent(index, agent).agentId);
      return { rows, text: renderPerspective(index, rows) };
    },
  });
