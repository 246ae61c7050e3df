import { countRepository } from './counts.ts';

const { longFunctions, foldsMadeIn, ...counts } = countRepository();
for (const [name, count] of Object.entries(counts)) console.log(`${name}: ${count}`);
console.log(`importedByOne share: ${((100 * counts.importedByOne) / counts.sourceFiles).toFixed(1)} %`);
console.log(`long functions: ${longFunctions.length}`);
for (const { file, line, lines } of longFunctions) console.log(`  ${file}:${line} has ${lines} lines`);
console.log(`a fold of facts is made in ${foldsMadeIn.length} files: ${foldsMadeIn.join(', ')}`);
