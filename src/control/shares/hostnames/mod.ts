/** Proofs that the hostnames of custom frontends belong to their organizations. */
export { HostnameProver } from './hostname-prover.ts';
