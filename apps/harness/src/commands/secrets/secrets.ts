import { type AddCommand, withExamples } from '../../terminal/command.ts';
import { addRedact } from './redact.ts';
import { addScan } from './scan.ts';

export const addSecrets: AddCommand = (command, context) => {
  addScan(command, context);
  addRedact(command, context);
  withExamples(command, 'secrets scan', 'secrets redact research/route-models --yes');
};
