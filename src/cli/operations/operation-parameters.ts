/**
 * Which parameters of an operation are arguments, which are options, and which follow from the log-in. Frontdoor
 * and organization are arguments of their own nouns only; other commands use the selected ones.
 */
import type { Operation, QueryParameter } from '#contract';
import { bodyFields, optionName, type BodyField } from './body-fields.ts';
import { namedByField, namedByPath, type NamedThing } from './named-thing-table.ts';
import type { OperationCommand } from './operation-command.ts';

export interface CommandArgument {
  /** Name of the path parameter. */
  readonly parameter: string;
  /** Name in help. */
  readonly name: string;
  /** Whether the argument is required; otherwise the caller's own resource is used. */
  readonly isRequired: boolean;
  /** The named resource that the value refers to, if a name is accepted instead of an id. */
  readonly named: NamedThing | undefined;
}

export interface CommandParameters {
  /** In the order of the path. */
  readonly arguments: readonly CommandArgument[];
  /** Whether the path has a frontdoor that comes from options, the environment or the profile. */
  readonly usesFrontdoor: boolean;
  /** Whether there is an option `--organization`, for the path, the query or the body. */
  readonly usesOrganization: boolean;
  /** Body fields that are arguments, after those of the path. */
  readonly fieldArguments: readonly BodyField[];
  /** Query options, without paging and the organization. */
  readonly query: readonly QueryOption[];
  /** Whether the list is paged. */
  readonly isPaged: boolean;
  /** Body fields that are options, without the organization. */
  readonly fields: readonly BodyField[];
  readonly organizationIn: 'path' | 'query' | 'body' | undefined;
  /** Whether the caller's own organization is sent if none is given. */
  readonly isOrganizationRequired: boolean;
}

export interface QueryOption extends QueryParameter {
  /** The long option, without its dashes. */
  readonly option: string;
  readonly named: NamedThing | undefined;
}

const OWN_NOUN: Readonly<Record<string, string>> = {
  frontdoorId: 'frontdoors',
  organizationId: 'organizations',
};
const PAGING = ['page', 'size'];

export function commandParameters(operation: Operation, row: OperationCommand): CommandParameters {
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const isArgument = (name: string): boolean => OWN_NOUN[name] === undefined || OWN_NOUN[name] === row.noun;
  const { body } = operation;
  const { called = {}, fieldArguments = [] } = row;
  const allFields = (typeof body === 'object' ? bodyFields(body) : []).map((field) => ({
    ...field,
    option: called[field.name] ?? field.option,
  }));
  const organizationField = allFields.find(({ name }) => name === 'organizationId');
  const organizationQuery = operation.query.find(({ name }) => name === 'organizationId');
  const isPathOption = inPath.includes('organizationId') && !isArgument('organizationId');
  const organizationIn = isPathOption
    ? 'path'
    : organizationQuery !== undefined
      ? 'query'
      : organizationField !== undefined
        ? 'body'
        : undefined;
  return {
    arguments: inPath.filter(isArgument).map((parameter) => ({
      parameter,
      name: optionNameOfPath(parameter),
      isRequired: OWN_NOUN[parameter] === undefined || operation.method === 'DELETE',
      named: namedByPath(operation.path, parameter),
    })),
    usesFrontdoor: inPath.includes('frontdoorId') && !isArgument('frontdoorId'),
    usesOrganization: organizationIn !== undefined,
    fieldArguments: fieldArguments.map((name) => allFields.find((field) => field.name === name)!),
    query: operation.query
      .filter(({ name }) => !PAGING.includes(name) && name !== 'organizationId')
      .map((parameter) => ({
        ...parameter,
        option: called[parameter.name] ?? optionName(parameter.name),
        named: namedByField(parameter.name),
      })),
    isPaged: PAGING.every((name) => operation.query.some((parameter) => parameter.name === name)),
    fields: allFields.filter(
      ({ name }) =>
        name !== 'organizationId' && row.bodyOnly?.[name] === undefined && !fieldArguments.includes(name),
    ),
    organizationIn,
    isOrganizationRequired:
      isPathOption || organizationQuery?.isRequired === true || organizationField?.isRequired === true,
  };
}

function optionNameOfPath(parameter: string): string {
  return parameter === 'organizationId' ? 'organization-id' : optionName(parameter);
}
