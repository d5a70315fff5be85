/** Builds a request from a command's arguments and options. It sends only what was given. */
import { readFile } from 'node:fs/promises';
import { FrontdoorError, messageOf } from '#base';
import type { Operation } from '#contract';
import type { ResolvedAccess } from '../access/access.ts';
import type { ApiFlags } from '../access/api-options.ts';
import type { CliIo } from '../cli-io.ts';
import type { ManagementClient, ManagementRequest } from '../management-client.ts';
import { attributeName, bodyOf } from './body-fields.ts';
import { conditionsOf, type ConditionFlags } from './condition-options.ts';
import { frontdoorOf, namedId, organizationIdOf, ownOrganization } from './named-id.ts';
import type { CommandParameters } from './operation-parameters.ts';
import type { NamedThing } from './named-thing-table.ts';
import type { ValueForm } from './value-form-table.ts';

export interface GivenOptions extends ApiFlags, ConditionFlags {
  readonly organization?: string;
  readonly body?: string;
  readonly [option: string]: unknown;
}

export interface RequestParts {
  readonly operation: Operation;
  readonly parameters: CommandParameters;
  /** The last argument is a list if it takes several words. */
  readonly args: readonly (string | readonly string[] | undefined)[];
  readonly options: GivenOptions;
  readonly access: ResolvedAccess;
  readonly client: ManagementClient;
  readonly io: CliIo;
}

/** The path has its parameters, but no query yet. */
export interface OperationRequest extends ManagementRequest {
  readonly query: URLSearchParams;
}

export async function operationRequest(parts: RequestParts): Promise<OperationRequest> {
  const { operation, parameters, options } = parts;
  const organizationId = parameters.usesOrganization ? await organizationOf(parts) : undefined;
  const query = new URLSearchParams();
  if (organizationId !== undefined && parameters.organizationIn === 'query')
    query.set('organizationId', organizationId);
  for (const { name, option, named } of parameters.query) {
    const value = options[attributeName(option)];
    if (typeof value === 'string') query.set(name, await idOf(parts, named, value));
  }
  const body = await requestBody(parts, organizationId);
  return {
    method: operation.method,
    path: await requestPath(parts, organizationId),
    query,
    isOpen: operation.scope === undefined,
    ...conditionsOf(operation, options),
    body,
  };
}

export function withQuery(path: string, query: URLSearchParams): string {
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

async function requestPath(parts: RequestParts, organizationId: string | undefined): Promise<string> {
  const { operation, parameters, args, io } = parts;
  const values = new Map<string, string>();
  for (const [index, { parameter, named }] of parameters.arguments.entries()) {
    const given = args[index] as string | undefined;
    const value = given === '-' ? ((await io.input?.()) ?? '').trim() : given;
    if (value === '') throw new FrontdoorError('invalid', 'argument', `${parameter} is empty`);
    if (value !== undefined) values.set(parameter, await idOf(parts, named, value));
    else if (parameter === 'frontdoorId') values.set(parameter, await frontdoorOf(parts));
    else values.set(parameter, await ownOrganization(parts));
  }
  if (parameters.usesFrontdoor) values.set('frontdoorId', await frontdoorOf(parts));
  if (parameters.organizationIn === 'path' && organizationId !== undefined)
    values.set('organizationId', organizationId);
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values.get(name) ?? ''),
  );
}

async function requestBody(parts: RequestParts, organizationId: string | undefined): Promise<unknown> {
  const { operation, parameters, options, args, io } = parts;
  if (typeof operation.body !== 'object') return undefined;
  const readValue = (text: string, option: string, form?: ValueForm): Promise<unknown> =>
    valueInput(text, option, io, form);
  const base = options.body === undefined ? {} : await readValue(options.body, '--body');
  if (typeof base !== 'object' || base === null || Array.isArray(base)) {
    throw new FrontdoorError('invalid', 'body', '--body must be a JSON object');
  }
  const body = await bodyOf(parameters.fields, options, base as Record<string, unknown>, readValue);
  for (const [index, { name }] of parameters.fieldArguments.entries())
    body[name] = args[parameters.arguments.length + index];
  for (const { name, named } of [...parameters.fields, ...parameters.fieldArguments]) {
    const value = body[name];
    if (named === undefined || value === undefined || value === null) continue;
    body[name] = Array.isArray(value)
      ? await Promise.all((value as unknown[]).map((each) => idOf(parts, named, each)))
      : await idOf(parts, named, value);
  }
  if (
    parameters.organizationIn === 'body' &&
    (options.organization !== undefined || !('organizationId' in body))
  )
    body['organizationId'] = organizationId;
  const missing = parameters.fields.filter(({ name, isRequired }) => isRequired && !(name in body));
  if (missing.length > 0) {
    const names = missing.map(({ option }) => `--${option}`).join(', ');
    throw new FrontdoorError(
      'invalid',
      'options-missing',
      `${names} ${missing.length > 1 ? 'are' : 'is'} needed`,
    );
  }
  // A question may leave all fields open. A replacement without fields must be explicit.
  const isMeant = operation.method === 'POST' || (operation.method === 'PUT' && options.body !== undefined);
  if (Object.keys(body).length === 0 && !isMeant) {
    throw new FrontdoorError('invalid', 'options-missing', 'nothing to change was given (see --help)');
  }
  return body;
}

/** Returns a value given as text, as `@file`, or on standard input as `-`: JSON, or a short form where there is one. */
export async function valueInput(
  text: string,
  option: string,
  io: CliIo,
  form?: ValueForm,
): Promise<unknown> {
  let json = text;
  if (text === '-') json = (await io.input?.()) ?? '';
  else if (text.startsWith('@')) {
    try {
      json = await readFile(text.slice(1), 'utf8');
    } catch (cause) {
      const path = text.slice(1);
      const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
      const why = isMissing ? 'does not exist' : `cannot be read: ${messageOf(cause)}`;
      throw new FrontdoorError('invalid', 'body', `${option}: the file ${path} ${why}`, { cause });
    }
  }
  if (form !== undefined && !json.trimStart().startsWith('{')) {
    const value = form.parse(json);
    if (value !== undefined) return value;
    // The text is not quoted, because it may be a password.
    const message = `${option} must be like ${form.example}, or JSON`;
    throw new FrontdoorError('invalid', 'value', message);
  }
  try {
    return JSON.parse(json);
  } catch (cause) {
    // The parser's message is not shown, because it quotes a text that may be a secret.
    throw new FrontdoorError('invalid', 'body', `${option} is not JSON`, { cause });
  }
}

/** Resolves a name to its id. Values that are not text are left for the API to refuse. */
async function idOf(parts: RequestParts, named: NamedThing | undefined, given: string): Promise<string>;
async function idOf(parts: RequestParts, named: NamedThing | undefined, given: unknown): Promise<unknown>;
async function idOf(
  { access, client }: RequestParts,
  named: NamedThing | undefined,
  given: unknown,
): Promise<unknown> {
  if (named === undefined || typeof given !== 'string') return given;
  return namedId({ client, access }, named, given);
}

/** Returns the organization of `--organization`, or the caller's own if one is required. */
async function organizationOf(parts: RequestParts): Promise<string | undefined> {
  const { parameters, options } = parts;
  if (options.organization === undefined)
    return parameters.isOrganizationRequired ? ownOrganization(parts) : undefined;
  return organizationIdOf(parts, options.organization);
}
