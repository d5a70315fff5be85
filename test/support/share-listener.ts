/** What takes connections for a private share on the machine of an agent, for clients of tests that have no agent. */
export { AccessListener } from '../../src/agent/access/access-listener.ts';
