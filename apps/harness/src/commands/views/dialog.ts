import { dialogOf, renderDialog } from '@hansard/views';
import { type AddCommand, agentHelp } from '../../terminal/command.ts';
import { addSessionView, type SessionViewOptions } from './session-view-command.ts';

interface DialogOptions extends SessionViewOptions {
  readonly agents?: string;
}

export const addDialog: AddCommand = (command, context) => {
  command.option(
    '--agents <names>',
    `print only what these agents said to each other, separated by commas; each: ${agentHelp}`,
  );
  addSessionView<DialogOptions>(command, context, {
    example: 'dialog chat/cafe --agents jack,jill',
    view(log, _words, { agents }) {
      const names = agents?.split(',').map((name) => log.findAgent(name.trim()).agentId);
      const rows = dialogOf(log.index, names);
      return { rows, text: renderDialog(log.index, rows) };
    },
  });
};
