import { dialogOf, renderDialog } from '@hansard/views';
import { findAgent } from '../../session/read-session-log.ts';
import type { AddCommand } from '../../terminal/command.ts';
import { addSessionView, type SessionViewOptions } from './session-view-command.ts';

interface DialogOptions extends SessionViewOptions {
  readonly agents?: string;
}

export const addDialog: AddCommand = (command, context) => {
  command.option(
    '--agents <names>',
    'print only what these agents said to each other: names or ids, separated by commas',
  );
  addSessionView<DialogOptions>(command, context, {
    example: 'dialog chat/cafe --agents jack,jill',
    view(index, _words, { agents }) {
      const names = agents?.split(',').map((name) => findAgent(index, name.trim()).agentId);
      const rows = dialogOf(index, names);
      return { rows, text: renderDialog(index, rows) };
    },
  });
};
