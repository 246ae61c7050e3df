/** Why a call can't be carried out, in words for the model that made it. */
export class Refusal extends Error {}
