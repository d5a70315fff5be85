/**
 * Every operation of the Management API and of the token issuer, as one table. The server refuses to start when a row
 * has no handler.
 */
import { accessOperations } from './access-operation-table.ts';
import { fabricOperations } from './fabric-operation-table.ts';
import { frontdoorOperations } from './frontdoor-operation-table.ts';
import { installationOperations } from './installation-operation-table.ts';
import { issuerOperations } from './issuer-operation-table.ts';
import { meshOperations } from './mesh-operation-table.ts';
import { organizationOperations } from './organization-operation-table.ts';
import type { Operation } from './operation.ts';
import { recordOperations } from './record-operation-table.ts';
import { providerOperations } from './provider-operation-table.ts';

export const operations = [
  ...frontdoorOperations,
  ...accessOperations,
  ...recordOperations,
  ...providerOperations,
  ...organizationOperations,
  ...fabricOperations,
  ...meshOperations,
  ...installationOperations,
  ...issuerOperations,
] as const satisfies readonly Operation[];

export type OperationId = (typeof operations)[number]['id'];
