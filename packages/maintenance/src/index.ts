export { type VerifiedDispatch, type VerifyScope, verifyDispatches } from './verify-dispatches.ts';
