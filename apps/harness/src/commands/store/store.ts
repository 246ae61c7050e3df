import { type AddCommand, withExamples } from '../../terminal/command.ts';
import { addInfo } from './info.ts';
import { addSetup } from './setup.ts';
import { addUnlock } from './unlock.ts';
import { addVerify } from './verify.ts';

export const addStore: AddCommand = (command, context) => {
  addVerify(command, context);
  addUnlock(command, context);
  addInfo(command, context);
  addSetup(command, context);
  withExamples(command, 'store verify', 'store unlock 4K7Q', 'store info', 'store setup');
};
