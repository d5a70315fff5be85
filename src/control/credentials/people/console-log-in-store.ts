/**
 * Log-ins at the console through an auth provider of the organization: which roles newcomers get, and which person each
 * account of the provider is.
 */
import { randomUUID } from 'node:crypto';
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { isUuid, ROLES, type Role } from '#domain';
import { mapAlone } from '#net';
import {
  orderedPage,
  type Page,
  type PageRequest,
  isUniqueViolation,
  type Queries,
} from '../../store/mod.ts';
import { consoleLogInRows, providerOfOrganization } from '../accounts/console-provider.ts';
import { sql } from 'kysely';
import { FrontdoorError } from '#base';

/** A role for members of a group, or for a verified e-mail address (`*@example.com` for its domain). */
const roleRuleSchema = Type.Object({
  group: Type.Optional(Part.text()),
  email: Type.Optional(Part.text()),
  role: Part.oneOf(...ROLES),
});
export type RoleRule = ShapeOf<typeof roleRuleSchema>;
const readRoles = jsonReader(Type.Array(roleRuleSchema));

export interface ConsoleLogInRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly authProviderId: string;
  /** The name of the auth provider. */
  readonly name: string;
  /** The first one that fits gives a newcomer the role. */
  readonly roles: readonly RoleRule[];
  readonly createdAtMs: number;
}

/** Throws `conflict` if the provider is in use for the console already. Returns undefined if the organization has no such provider. */
export async function createConsoleLogIn(
  trx: Queries,
  wanted: Pick<ConsoleLogInRecord, 'organizationId' | 'authProviderId' | 'roles'>,
  nowMs: number,
): Promise<ConsoleLogInRecord | undefined> {
  const { organizationId, authProviderId, roles } = wanted;
  const provider = await providerOfOrganization(trx, organizationId, authProviderId.toLowerCase());
  if (provider === undefined) return undefined;
  const id = randomUUID();
  await trx
    .insertInto('console_log_in')
    .values({
      id,
      organization_id: organizationId,
      auth_provider_id: provider.id,
      roles: JSON.stringify(roles),
      created_at: nowMs,
    })
    .execute()
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw new FrontdoorError(
        'conflict',
        'conflict',
        'People log in at the console with this provider already',
      );
    });
  const { name } = provider;
  return { id, organizationId, authProviderId: provider.id, name, roles, createdAtMs: nowMs };
}

export async function findConsoleLogIn(db: Queries, id: string): Promise<ConsoleLogInRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await consoleLogInRows(db).where('console_log_in.id', '=', id.toLowerCase()).executeTakeFirst();
  return row && recordsOf([row])[0];
}

/** Returns the log-in through an enabled provider. */
export async function findConsoleLogInOf(
  db: Queries,
  authProviderId: string,
): Promise<ConsoleLogInRecord | undefined> {
  if (!isUuid(authProviderId)) return undefined;
  const row = await consoleLogInRows(db)
    .where('console_log_in.auth_provider_id', '=', authProviderId.toLowerCase())
    .where('auth_provider.enabled', '=', 1)
    .executeTakeFirst();
  return row && recordsOf([row])[0];
}

/** Returns the id of the log-in through a provider, also of one that is not enabled. */
export async function consoleLogInIdUsing(db: Queries, authProviderId: string): Promise<string | undefined> {
  const row = await consoleLogInRows(db)
    .where('console_log_in.auth_provider_id', '=', authProviderId)
    .executeTakeFirst();
  return row?.id;
}

/**
 * Returns the roles that people have or get who log in at the console with a provider, or with any provider of a frontdoor,
 * also while it is not enabled; undefined if nobody does.
 */
export async function rolesThroughProviders(
  db: Queries,
  of: { readonly authProviderId: string } | { readonly frontdoorId: string },
): Promise<readonly Role[] | undefined> {
  const all = consoleLogInRows(db);
  const rows = await (
    'frontdoorId' in of
      ? all.where('auth_provider.frontdoor_id', '=', of.frontdoorId)
      : all.where('console_log_in.auth_provider_id', '=', of.authProviderId)
  ).execute();
  if (rows.length === 0) return undefined;
  const ids = rows.map(({ auth_provider_id: id }) => id);
  const people = await db
    .selectFrom('person_identity')
    .innerJoin('person', 'person.id', 'person_identity.person_id')
    .select('person.role')
    .where('person_identity.auth_provider_id', 'in', ids)
    .where('person.role', 'is not', null)
    .distinct()
    .execute();
  const ofRules = recordsOf(rows).flatMap(({ roles }) => roles.map(({ role }) => role));
  return [...new Set([...ofRules, ...people.map(({ role }) => role as Role)])];
}

const CREATED_AT = sql.ref('console_log_in.created_at');
const ID = sql.ref('console_log_in.id');
const ORDER = {
  tie: ID,
  fields: { default: CREATED_AT, createdAt: CREATED_AT, id: ID, name: sql.ref('auth_provider.name') },
};

export async function listConsoleLogIns(
  db: Queries,
  organizationId: string,
  request: PageRequest,
): Promise<Page<ConsoleLogInRecord>> {
  const query = consoleLogInRows(db).where('console_log_in.organization_id', '=', organizationId);
  const { content, total } = await orderedPage(query, ORDER, request);
  return { content: recordsOf(content), total };
}

/** Returns those with an enabled provider, for the log-in page. */
export async function offeredConsoleLogIns(
  db: Queries,
  organizationId: string,
  limit: number,
): Promise<readonly ConsoleLogInRecord[]> {
  const rows = await consoleLogInRows(db)
    .where('console_log_in.organization_id', '=', organizationId)
    .where('auth_provider.enabled', '=', 1)
    .orderBy('auth_provider.name')
    .limit(limit)
    .execute();
  return recordsOf(rows);
}

/** Ends the sessions that began with it, too. */
export async function deleteConsoleLogIn(
  trx: Queries,
  { id, authProviderId }: ConsoleLogInRecord,
): Promise<void> {
  await trx.deleteFrom('console_session').where('auth_provider_id', '=', authProviderId).execute();
  await trx.deleteFrom('person_identity').where('auth_provider_id', '=', authProviderId).execute();
  await trx.deleteFrom('console_log_in').where('id', '=', id).execute();
}

/** Returns the person of an account at a provider. */
export async function personOfAccount(
  db: Queries,
  authProviderId: string,
  subject: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('person_identity')
    .select('person_id')
    .where('auth_provider_id', '=', authProviderId)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.person_id;
}

/** Throws a unique violation if the account has a person already. */
export async function bindAccount(
  trx: Queries,
  authProviderId: string,
  subject: string,
  personId: string,
): Promise<void> {
  await trx
    .insertInto('person_identity')
    .values({ auth_provider_id: authProviderId, subject, person_id: personId })
    .execute();
}

/** The number of people of an organization who wait for a role. */
export async function waitingPeople(db: Queries, organizationId: string): Promise<number> {
  const { waiting } = await db
    .selectFrom('person')
    .select((eb) => eb.fn.countAll<number | string>().as('waiting'))
    .where('organization_id', '=', organizationId)
    .where('role', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(waiting);
}

interface ConsoleLogInRow {
  readonly id: string;
  readonly organization_id: string;
  readonly auth_provider_id: string;
  readonly name: string;
  readonly roles: string;
  readonly created_at: number;
}

/** One whose roles are damaged is left out: nobody signs in through it. */
function recordsOf(rows: readonly ConsoleLogInRow[]): ConsoleLogInRecord[] {
  return mapAlone(rows, ({ id }) => `the console sign-in ${id} of the store`, recordOf);
}

function recordOf(row: ConsoleLogInRow): ConsoleLogInRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    authProviderId: row.auth_provider_id,
    name: row.name,
    roles: readRoles(row.roles),
    createdAtMs: row.created_at,
  };
}
