/**
 * Every operation of the Management API and of the token issuer, as one table. The server refuses to start when a row
 * has no handler. What a handler is given and gives back is inferred from its row.
 */
import type { Static, TSchema } from 'typebox';
import { accessOperations } from './access-operation-table.ts';
import { authorityOperations } from './authority-operation-table.ts';
import { changeOperations } from './change-operation-table.ts';
import { eventExportOperations } from './event-export-operation-table.ts';
import { domainOperations } from './domain-operation-table.ts';
import { fabricOperations } from './fabric-operation-table.ts';
import { frontdoorOperations } from './frontdoor-operation-table.ts';
import { installationOperations } from './installation-operation-table.ts';
import { issuerOperations } from './issuer-operation-table.ts';
import { meshOperations } from './mesh-operation-table.ts';
import { notificationOperations } from './notification-operation-table.ts';
import { organizationOperations } from './organization-operation-table.ts';
import type { Operation } from './operation.ts';
import { secondFactorOperations } from './second-factor-operation-table.ts';
import { searchOperations } from './search-operation-table.ts';
import { signInPageOperations } from './sign-in-page-operation-table.ts';
import { summaryOperations } from './summary-operation-table.ts';
import { recordOperations } from './record-operation-table.ts';
import { requestLogOperations } from './request-log-operation-table.ts';
import { peopleOperations } from './people-operation-table.ts';
import { policyOperations } from './policy-operation-table.ts';
import { upstreamOperations } from './upstream-operation-table.ts';
import { providerOperations } from './provider-operation-table.ts';

const table = [
  ...frontdoorOperations,
  ...accessOperations,
  ...policyOperations,
  ...upstreamOperations,
  ...domainOperations,
  ...recordOperations,
  ...requestLogOperations,
  ...changeOperations,
  ...summaryOperations,
  ...searchOperations,
  ...providerOperations,
  ...organizationOperations,
  ...signInPageOperations,
  ...peopleOperations,
  ...notificationOperations,
  ...eventExportOperations,
  ...secondFactorOperations,
  ...fabricOperations,
  ...meshOperations,
  ...installationOperations,
  ...authorityOperations,
  ...issuerOperations,
] as const satisfies readonly Operation[];

type Row = (typeof table)[number];

export type OperationId = Row['id'];

export const operations: readonly (Operation & { readonly id: OperationId })[] = table;

type RowById = { readonly [R in Row as R['id']]: R };

/** The body of a request after its check; undefined where the operation reads none, or forms of its own. */
export type BodyOf<Id extends OperationId> = StaticOf<RowById[Id]['body']>;

/** The JSON of the answer; undefined where it has none. */
export type AnswerOf<Id extends OperationId> = StaticOf<RowById[Id]['answer']['schema']>;

/** The names of the parameters in the path. */
export type ParameterOf<Id extends OperationId> = ParameterIn<RowById[Id]['path']>;

type StaticOf<Schema> = Schema extends string | undefined ? undefined : Static<Schema & TSchema>;

type ParameterIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterIn<Rest>
  : never;
