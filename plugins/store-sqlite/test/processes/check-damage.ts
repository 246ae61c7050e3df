/**
 * Runs the checks of damaged rows with the store of another module, and prints `survived`, or the first line of the failure. Arguments:
 * the module, a path for databases, the seed.
 */
import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { checkDamage, damages, type Place } from '../integrity/damage-rows.ts';

/** One place with events before and after the damage, because some faults show only there, and a random one. */
const places: readonly (Place | undefined)[] = [{ count: 10, position: 3 }, undefined];

const [module = '', path = '', seed = '0'] = process.argv.slice(2);
const { openSqliteStore } = await import(pathToFileURL(module).href);
let outcome = 'survived';
try {
  for (const [index, damage] of damages.entries())
    for (const [round, place] of places.entries())
      checkDamage(openSqliteStore, `${path}-${index}-${round}`, damage, Number(seed) + round, place);
} catch (error) {
  outcome = error instanceof Error ? `${error.name} ${error.message.split('\n')[0]}` : String(error);
}
writeSync(1, outcome);
