import { agentTree, renderAgentTree } from '@hansard/views';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView } from './session-view-command.ts';

export const addAgents: AddCommand = (command, context) =>
  addSessionView(command, context, {
    example: 'agents chat/cafe',
    view({ index }) {
      const rows = agentTree(index);
      return { rows, text: renderAgentTree(rows) };
    },
  });
