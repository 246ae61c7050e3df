export {
  type ContractAnswer,
  type ContractCall,
  callStore,
  type EventText,
  isSecret,
  type OpeningState,
  searched,
  taskDir,
  tasks,
} from './contract-calls.ts';
export { contractFaults, withContractFault } from './contract-faults.ts';
export { type BegunCall, ContractOracle, type SimulatedCall } from './contract-oracle.ts';
export { BrokenPromise } from './registers.ts';
