// What a program needs to print amounts, texts of others and policies, without the libraries that the views need.
export { type ContextPolicy, parseContextPolicy } from './context/context-policy.ts';
export { formatCost } from './text/format.ts';
export { neutraliseControls, neutraliseControlsInLine } from './text/neutralise-controls.ts';
