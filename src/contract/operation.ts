/**
 * What one operation of the Management API is: routing, credentials, scopes, limits, validation, command line and the
 * API's description all come from rows of this shape.
 */
import type { TSchema } from 'typebox';

export type Scope = 'frontdoor.read' | 'frontdoor.write' | 'frontdoor.admin';

export const SCOPES: readonly Scope[] = ['frontdoor.read', 'frontdoor.write', 'frontdoor.admin'];

/** Chapters of the API's description. */
export type OperationGroup =
  | 'Frontdoors'
  | 'Environments'
  | 'Agents'
  | 'Shares'
  | 'Requests'
  | 'Custom frontends'
  | 'Auth provider types'
  | 'Auth providers'
  | 'Metrics'
  | 'Organizations'
  | 'API accounts'
  | 'OAuth clients'
  | 'Audit'
  | 'Fabric'
  | 'Installation'
  | 'Tokens'
  | 'Description';

export interface Operation {
  readonly id: string;
  readonly group: OperationGroup;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** After {base_url}, or after {auth_url} when `at` is `auth`. Parameters in braces. */
  readonly path: string;
  readonly at: 'api' | 'auth';
  /** Parameters of the path that must be UUIDs. */
  readonly uuidParameters: readonly string[];
  /** Undefined: no credentials are asked for. */
  readonly scope: Scope | undefined;
  /** Counted per client address before anything else; writes are counted per caller anyway. */
  readonly isLimitedByAddress: boolean;
  /** Undefined: reads no body; 'own': the handler reads forms that JSON does not cover. */
  readonly body: TSchema | 'own' | undefined;
  /** No body stands for an empty object. */
  readonly isBodyOptional?: true;
  /** What an `own` body holds, by media type. */
  readonly forms?: Readonly<Record<string, TSchema>>;
  readonly query: readonly QueryParameter[];
  readonly answer: OperationAnswer;
  /** Statuses of its own refusals, beside those that every operation has. */
  readonly refusals: readonly number[];
}

export interface OperationAnswer<Schema extends TSchema | undefined = TSchema | undefined> {
  readonly status: number;
  /** Of the JSON body; undefined when there is none, or none that is JSON. */
  readonly schema: Schema;
  /** Other forms of the answer, by media type, in words. */
  readonly otherForms?: Readonly<Record<string, string>>;
}

export interface QueryParameter {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'UUID' | 'date-time' | 'duration' | 'sort';
  readonly isRequired: boolean;
  readonly summary: string;
  /** The only values that it takes. */
  readonly values?: readonly string[];
  /** Bounds of an integer. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** The form of a string, as a regular expression, and the same in words for refusals: both or neither. */
  readonly pattern?: string;
  readonly rule?: string;
  /** What a `sort` can sort by. */
  readonly fields?: readonly string[];
}

const pageNumber: QueryParameter = {
  name: 'page',
  type: 'integer',
  isRequired: false,
  summary: 'Page number, from 0',
  minimum: 0,
  maximum: 1_000_000_000,
};
const pageSize: QueryParameter = {
  name: 'size',
  type: 'integer',
  isRequired: false,
  summary: 'Entries on a page, 1 to 1000; 20 when not given',
  minimum: 1,
};
/** The query of a list that cannot be sorted. */
export const unsortedPaging: readonly QueryParameter[] = [pageNumber, pageSize];

type Row = Pick<Operation, 'id' | 'group' | 'summary' | 'method' | 'path'> & Partial<Operation>;

/** An operation with the types of its own row `T`: those of its handler are inferred from them. */
interface TypedOperation<T extends Row> extends Operation {
  readonly id: T['id'];
  readonly path: T['path'];
  readonly body: T extends { readonly body: infer Body extends Operation['body'] } ? Body : undefined;
  readonly answer: T extends { readonly answer: infer Answer extends OperationAnswer }
    ? Answer
    : OperationAnswer<undefined>;
}

const defaults: Omit<Operation, 'id' | 'group' | 'summary' | 'method' | 'path'> = {
  at: 'api',
  uuidParameters: ['frontdoorId', 'organizationId'],
  scope: undefined,
  isLimitedByAddress: false,
  body: undefined,
  query: [],
  answer: { status: 200, schema: undefined },
  refusals: [],
};

/** A row that the caller's scope guards: read for GET, write for the rest, unless it says otherwise. */
export function guarded<const T extends Row>(row: T): TypedOperation<T> {
  return typed<T>({ scope: row.method === 'GET' ? 'frontdoor.read' : 'frontdoor.write', ...row });
}

/** A row that asks for no credentials. */
export function open<const T extends Row>(row: T): TypedOperation<T> {
  return typed<T>(row);
}

/** The defaults have the types that `TypedOperation` gives to what a row leaves out. */
function typed<T extends Row>(row: Row): TypedOperation<T> {
  return { ...defaults, ...row } as Operation as TypedOperation<T>;
}

export const ok = <Schema extends TSchema>(schema: Schema): OperationAnswer<Schema> => ({
  status: 200,
  schema,
});
export const created = <Schema extends TSchema>(schema: Schema): OperationAnswer<Schema> => ({
  status: 201,
  schema,
});
export const gone: OperationAnswer<undefined> = { status: 204, schema: undefined };

/** The query of a list that is sorted by one of these fields. */
export function paging(...sortFields: readonly string[]): readonly QueryParameter[] {
  const fields = sortFields.length === 0 ? ['name', 'id'] : sortFields;
  return [
    ...unsortedPaging,
    {
      name: 'sort',
      type: 'sort',
      isRequired: false,
      summary: `field,direction: ${fields.join(', ')}; asc (when not given) or desc; -field is field,desc`,
      fields,
    },
  ];
}
