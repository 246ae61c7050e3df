export const help = `Test a store against the rules of the Hansard store contract.

Usage: hansard-store-conformance MODULE [options]

MODULE is a file whose default export says how to open your store:

  export default {
    capabilities: { durability: 'process', writers: 'process', search: false,
                    watch: false, deleteDispatch: false, rewrite: false, integrity: 'none' },
    create: () => ({ store, reopen, dispose }),   // a new, empty store for each case
    knownGaps: { 'pages/beyond-the-end': 'not written yet' },
  };

Options:
  --case NAME      Run one case or one family, such as pages/walk or pages. Repeatable.
  --seed NUMBER    Repeat the random choices of an earlier run.
  --timeout N      Fail a case that runs longer than N seconds (120).
  --json           Print the results as one JSON object.
  --list           Print the cases that apply to the store, and run none.
  --version        Print the version.
  -h, --help       Print this help.

Examples:
  hansard-store-conformance ./my-store.js
  hansard-store-conformance ./my-store.js --case claims --case appends/order
  hansard-store-conformance ./my-store.js --case model --seed 1234567
  hansard-store-conformance ./my-store.js --json > results.json

Exit codes:
  0  Every case passed, was skipped, or failed as knownGaps says.
  1  A case failed, or a known gap passed.
  2  The command line or the module is wrong. No case ran.
`;
