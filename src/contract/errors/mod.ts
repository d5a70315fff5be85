/**
 * The registry of errors: every code that a person or a program meets, with what it means, what to do, and since which
 * version it exists. The reference page and the tests read it. Programs do not load it: they only throw the codes.
 */
import type { ErrorTable } from '#base';
import { AGENT_ERRORS } from './agent-error-table.ts';
import { CLI_ERRORS } from './cli-error-table.ts';
import { CONTROL_ERRORS } from './control-error-table.ts';
import { DOMAIN_ERRORS } from './domain-error-table.ts';
import { GATEWAY_ERRORS } from './gateway-error-table.ts';
import { NET_ERRORS } from './net-error-table.ts';
import { PORT_ERRORS } from './port-error-table.ts';
import { PROGRAM_ERRORS } from './program-error-table.ts';
import { ROUTER_ERRORS } from './router-error-table.ts';
import { SDK_ERRORS } from './sdk-error-table.ts';
import { WIRE_ERRORS } from './wire-error-table.ts';

export { API_ERRORS, TOKEN_ERRORS } from '../api-error-table.ts';
export { CIRCUIT_ERRORS } from './circuit-error-table.ts';
export { EDGE_ERRORS } from './edge-error-table.ts';
export { VISITOR_ERRORS, type VisitorErrorRow } from './visitor-error-table.ts';

/** Codes of `FrontdoorError`s by the part that throws them. A part throws its own and those of lower parts. */
export const ERRORS_BY_PART = {
  wire: WIRE_ERRORS,
  domain: DOMAIN_ERRORS,
  net: NET_ERRORS,
  sdk: SDK_ERRORS,
  control: { ...CONTROL_ERRORS, ...PORT_ERRORS },
  gateway: GATEWAY_ERRORS,
  router: ROUTER_ERRORS,
  agent: AGENT_ERRORS,
  cli: CLI_ERRORS,
  bin: PROGRAM_ERRORS,
} as const satisfies Readonly<Record<string, ErrorTable>>;

export type ControlErrorCode = keyof typeof CONTROL_ERRORS | keyof typeof PORT_ERRORS;
