import { wrongImports } from './import-directions.ts';

const wrong = wrongImports();
for (const line of wrong) console.error(line);
console.log(wrong.length === 0 ? 'Imports point one way.' : `${wrong.length} imports point the wrong way.`);
process.exitCode = wrong.length === 0 ? 0 : 1;
