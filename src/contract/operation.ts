/**
 * The shape of a row of the operation table. Routing, authentication, scopes, limits, validation, the command
 * line and the API description all follow these rows.
 */
import type { TSchema } from 'typebox';
import type { Scope } from '#domain';

/** Groups of operations, which are the chapters of the API description. */
export type OperationGroup =
  | 'Frontdoors'
  | 'Environments'
  | 'Agents'
  | 'Shares'
  | 'Requests'
  | 'Changes'
  | 'Search'
  | 'Policies'
  | 'Custom frontends'
  | 'Auth provider types'
  | 'Auth providers'
  | 'Metrics'
  | 'Organizations'
  | 'API accounts'
  | 'OAuth clients'
  | 'People'
  | 'Notifications'
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
  /** Path after {base_url}, or after {auth_url} if `at` is `auth`. Parameters are in braces. */
  readonly path: string;
  readonly at: 'api' | 'auth';
  /** Path parameters that must be UUIDs. */
  readonly uuidParameters: readonly string[];
  /** Undefined if the operation requires no credentials. */
  readonly scope: Scope | undefined;
  /**
   * Whether requests are counted per client address before anything else. Writes are counted per caller in any
   * case.
   */
  readonly isLimitedByAddress: boolean;
  /** Undefined if the operation reads no body; 'own' if the handler reads forms other than JSON. */
  readonly body: TSchema | 'own' | undefined;
  /** Whether an absent body is treated as an empty object. */
  readonly isBodyOptional?: true;
  /** Schemas of an `own` body, by media type. */
  readonly forms?: Readonly<Record<string, TSchema>>;
  readonly query: readonly QueryParameter[];
  readonly answer: OperationAnswer;
  /** Statuses of the operation's own errors, in addition to those of every operation. */
  readonly refusals: readonly number[];
}

export interface OperationAnswer<Schema extends TSchema | undefined = TSchema | undefined> {
  readonly status: number;
  /** Schema of the JSON response; undefined if there is none or it is not JSON. */
  readonly schema: Schema;
  /** Descriptions of other forms of the response, by media type. */
  readonly otherForms?: Readonly<Record<string, string>>;
  /** The part of the response that is, or may have, a secret which nobody gets again; `body` for all of it. */
  readonly secret?: string;
}

export interface QueryParameter {
  readonly name: string;
  /** `list`: texts with commas between them. */
  readonly type: 'integer' | 'string' | 'UUID' | 'date-time' | 'duration' | 'sort' | 'list';
  readonly isRequired: boolean;
  readonly summary: string;
  /** The accepted values. */
  readonly values?: readonly string[];
  /** Bounds of an integer; the maximum of a list is that of its entries' number. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** A regular expression for a string, and the rule in words for refusals. Both or neither are given. */
  readonly pattern?: string;
  readonly rule?: string;
  /** Fields that `sort` accepts. */
  readonly fields?: readonly string[];
}

const pageNumber: QueryParameter = {
  name: 'page',
  type: 'integer',
  isRequired: false,
  summary: 'Page number, counted from 0',
  minimum: 0,
  maximum: 1_000_000_000,
};
const pageSize: QueryParameter = {
  name: 'size',
  type: 'integer',
  isRequired: false,
  summary: 'Number of entries on a page, 1 to 1000; 20 by default',
  minimum: 1,
};
/** Query parameters of a list that cannot be sorted. */
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

/** Returns a row that requires a scope: read for GET and write for other methods, unless the row has its own. */
export function guarded<const T extends Row>(row: T): TypedOperation<T> {
  return typed<T>({ scope: row.method === 'GET' ? 'frontdoor.read' : 'frontdoor.write', ...row });
}

/** Returns a row that requires no credentials. */
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
/** The same response, whose field is a secret, or may have one. */
export const showing = <Schema extends TSchema>(
  secret: string,
  answer: OperationAnswer<Schema>,
): OperationAnswer<Schema> => ({ ...answer, secret });
export const gone: OperationAnswer<undefined> = { status: 204, schema: undefined };

/** Returns the query parameters of a list that these fields can sort. */
export function paging(...sortFields: readonly string[]): readonly QueryParameter[] {
  const fields = sortFields.length === 0 ? ['name', 'id'] : sortFields;
  return [
    ...unsortedPaging,
    {
      name: 'sort',
      type: 'sort',
      isRequired: false,
      summary: `field,direction: ${fields.join(', ')}; asc (the default) or desc; -field means field,desc`,
      fields,
    },
  ];
}
