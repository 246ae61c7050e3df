export { randomFrom } from '../made-events.ts';
export {
  type ContractAnswer,
  type ContractCall,
  callStore,
  type EventText,
  isSecret,
  type OpeningState,
  taskDir,
} from './contract-calls.ts';
export { contractFaults, withContractFault } from './contract-faults.ts';
export { type BegunCall, ContractOracle, type SimulatedCall } from './contract-oracle.ts';
export { RandomCalls, shrink } from './random-calls.ts';
export { BrokenPromise } from './registers.ts';
export { runLater, runNow } from './steps.ts';
