import type { AddCommand } from '../../terminal/command.ts';
import { addCheck } from './check.ts';
import { addVerdictImport } from './import.ts';
import { addPack } from './pack.ts';
import { addReport } from './report.ts';

export const addJudge: AddCommand = (command, context) => {
  command.addHelpText(
    'after',
    '\nExamples:\n  hansard judge pack game/village --mapping village.yaml --out packets\n  hansard judge check game/village packets --mapping village.yaml\n  hansard judge import game/village verdicts.jsonl --mapping village.yaml\n  hansard judge report game/village',
  );
  addPack(command, context);
  addCheck(command, context);
  addVerdictImport(command, context);
  addReport(command, context);
};
