import type { Usage } from '@hansard/events';

const usualTerms = {
  speed: ['standard'],
  serviceTier: ['standard', 'default'],
  inferenceGeo: ['global', 'not_available'],
} as const;

const names = Object.keys(usualTerms) as (keyof typeof usualTerms)[];

/** What was special about a call, and decides its price: its speed, its service tier and the place of its model. */
export type CallTerms = Pick<Usage, keyof typeof usualTerms>;

/** The terms of a call that are not the usual ones. Absent and usual are the same, so that their calls are summed. */
export function specialTerms(usage: CallTerms): CallTerms {
  const special: CallTerms = {};
  for (const name of names) {
    const term = usage[name];
    if (term !== undefined && !(usualTerms[name] as readonly string[]).includes(term)) special[name] = term;
  }
  return special;
}

/** Whether no term is given. Terms that are given can still be usual. */
export function isUsual({ speed, serviceTier, inferenceGeo }: CallTerms): boolean {
  return speed === undefined && serviceTier === undefined && inferenceGeo === undefined;
}

/** Special terms in words, such as `fast`, `batch` or `in us`. */
export function termsInWords(usage: CallTerms): string[] {
  const { speed, serviceTier, inferenceGeo } = specialTerms(usage);
  return [speed, serviceTier, inferenceGeo && `in ${inferenceGeo}`].filter((term) => term !== undefined);
}

/** A model with the special terms of its calls: `claude-opus-4-6 (fast, in us)`. */
export function modelInWords({ model, ...usage }: CallTerms & { readonly model: string }): string {
  const terms = termsInWords(usage);
  return terms.length === 0 ? model : `${model} (${terms.join(', ')})`;
}
