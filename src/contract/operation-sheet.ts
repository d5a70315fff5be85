/**
 * An operation as people read it: parameters, fields by dotted path, errors, an example call. The browsable page
 * and the reference page render the same sheets.
 */
import type { TSchema } from 'typebox';
import { exampleBodyOf } from './example-body.ts';
import { headerParametersOf } from './openapi-header-table.ts';
import { operations } from './operation-table.ts';
import type { Operation, OperationGroup, QueryParameter } from './operation.ts';
import { pathParametersOf } from './openapi-parameter-table.ts';
import { refusalsOf, type ApiRefusalRow } from './openapi-refusal-table.ts';
import { fieldsOf, typeWords, type FieldRow } from './schema-fields.ts';

export interface OperationSheet {
  readonly id: string;
  readonly group: OperationGroup;
  readonly summary: string;
  readonly method: Operation['method'];
  /** URL with its base address: `{base_url}/…` or `{auth_url}/…`. */
  readonly url: string;
  readonly path: string;
  /** Undefined if the operation requires no scope. */
  readonly scope: Operation['scope'];
  readonly parameters: readonly ParameterRow[];
  /** Undefined if the operation reads no body. */
  readonly body: BodySheet | undefined;
  readonly answer: AnswerSheet;
  readonly refusals: readonly ApiRefusalRow[];
  /** A shell command. The credential and ids are shell variables. */
  readonly example: string;
}

export interface BodySheet {
  readonly mediaTypes: readonly string[];
  readonly fields: readonly FieldRow[];
  /** Read-only names that are accepted and ignored, so that a resource can be sent back as it was read. */
  readonly ignored: readonly string[];
}

export interface ParameterRow {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly type: string;
  readonly isRequired: boolean;
  readonly note: string;
}

export interface AnswerSheet {
  readonly status: number;
  /** Empty if there is no JSON body, or if it follows no schema of Frontdoor. */
  readonly fields: readonly FieldRow[];
  /** Type of the whole JSON value: `object`, `array of object`. Undefined if there is none. */
  readonly type: string | undefined;
  readonly otherForms: readonly (readonly [mediaType: string, text: string])[];
}

/** Returns all operations by group. Groups and operations are in the order of the table. */
export function sheetsByGroup(): ReadonlyMap<OperationGroup, readonly OperationSheet[]> {
  const groups = new Map<OperationGroup, OperationSheet[]>();
  for (const operation of operations as readonly Operation[]) {
    const sheets = groups.get(operation.group) ?? [];
    sheets.push(sheetOf(operation));
    groups.set(operation.group, sheets);
  }
  return groups;
}

export function sheetOf(operation: Operation): OperationSheet {
  const { id, group, summary, method, path, at, scope, answer } = operation;
  return {
    id,
    group,
    summary,
    method,
    url: `${at === 'auth' ? '{auth_url}' : '{base_url}'}${path}`,
    path,
    scope,
    parameters: parametersOf(operation),
    body: bodyOf(operation),
    answer: {
      status: answer.status,
      fields: answer.schema === undefined ? [] : fieldsOf(answer.schema),
      type: answer.schema === undefined ? undefined : typeWords(answer.schema),
      otherForms: Object.entries(answer.otherForms ?? {}),
    },
    refusals: refusalsOf(operation),
    example: curlOf(operation),
  };
}

function parametersOf(operation: Operation): readonly ParameterRow[] {
  const inPath = pathParametersOf(operation).map(({ name, summary, schema }) => ({
    name,
    in: 'path' as const,
    type: typeWords(schema as TSchema),
    isRequired: true,
    note: summary,
  }));
  const inQuery = operation.query.map((parameter) => ({
    name: parameter.name,
    in: 'query' as const,
    type: queryType(parameter),
    isRequired: parameter.isRequired,
    note: parameter.summary,
  }));
  const inHeader = headerParametersOf(operation).map(({ name, summary }) => ({
    name,
    in: 'header' as const,
    type: 'string',
    isRequired: false,
    note: summary,
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

function queryType({ type, values }: QueryParameter): string {
  if (values !== undefined) return values.join(' | ');
  if (type === 'list') return 'list of string';
  if (type === 'date-time') return 'string (timestamp)';
  return type === 'UUID' || type === 'duration' ? `string (${type})` : type === 'sort' ? 'string' : type;
}

/** Returns the schema of the body, or of its first form if it has several. */
function bodySchemaOf({ body, forms = {} }: Operation): TSchema | undefined {
  return body === 'own' ? Object.values(forms)[0] : body;
}

function bodyOf(operation: Operation): OperationSheet['body'] {
  const schema = bodySchemaOf(operation);
  if (schema === undefined) return undefined;
  const mediaTypes = operation.body === 'own' ? Object.keys(operation.forms ?? {}) : ['application/json'];
  const fields = fieldsOf(schema);
  return {
    mediaTypes,
    fields: fields.filter(({ isReadOnly }) => !isReadOnly),
    ignored: fields.filter(({ isReadOnly }) => isReadOnly).map(({ path }) => path),
  };
}

function curlOf(operation: Operation): string {
  const { method, path, at, scope, query, answer } = operation;
  const base = at === 'auth' ? '$AUTH_URL' : '$BASE_URL';
  const required = query
    .filter(({ isRequired }) => isRequired)
    .map(({ name }) => `${name}=$${variable(name)}`);
  const url = path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => `$${variable(name)}`);
  const schema = bodySchemaOf(operation);
  const [otherForm] = Object.keys(answer.otherForms ?? {});
  const options = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(scope === undefined ? [] : ['-H "Authorization: Bearer $ACCESS_TOKEN"']),
    ...(answer.schema === undefined && otherForm !== undefined ? [`-H 'Accept: ${otherForm}'`] : []),
    ...(schema === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(exampleBodyOf(schema))}'`]),
  ];
  const address = `"${base}${url}${required.length === 0 ? '' : `?${required.join('&')}`}"`;
  return ['curl', ...options, address]
    .join(options.length > 1 ? ' \\\n  ' : ' ')
    .replace('curl \\\n  ', 'curl ');
}

/** Converts `frontdoorId` to `FRONTDOOR_ID`. */
function variable(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
