/**
 * The version of the contracts in this package. The `apiVersion` of a manifest and the `contract` of a provider name the
 * version that a plugin implements. A plugin writes both as a number, because this constant belongs to the installed
 * package and not to the plugin.
 */
export const contractVersion = 1 as const;

export type ContractVersion = typeof contractVersion;

/**
 * Why the `contract` of a provider is not supported, and what to do. Null: it is supported. The sentences follow the name
 * of the provider in an error message.
 */
export function describeContractProblem(contract: unknown): string | null {
  if (contract === contractVersion) return null;
  const supported = `This Hansard supports version ${contractVersion} of the contracts.`;
  if (contract === undefined)
    return `has no \`contract\`. ${supported} If it implements this version, its author must add \`contract: ${contractVersion}\`.`;
  if (typeof contract !== 'number' || !Number.isInteger(contract))
    return `has a \`contract\` that is not a whole number: ${shown(contract)}. ${supported} Its author must write \`contract: ${contractVersion}\`.`;
  return `has \`contract: ${contract}\`. ${supported} Update ${contract < contractVersion ? 'the plugin' : 'Hansard'}.`;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return typeof value === 'number' || typeof value === 'boolean' || value === null
    ? String(value)
    : `a value of type ${typeof value}`;
}
