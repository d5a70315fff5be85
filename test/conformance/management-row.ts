/** The form of a row of the Management API's requirement, which a test compares with an API. */

/** A kind of value, an object of exactly these fields (`?`: may be absent), or an array of one shape. */
export type AnswerShape = Kind | { readonly [field: string]: AnswerShape } | readonly [AnswerShape];

export type Kind =
  | 'UUID'
  | 'string'
  | 'string or null'
  | 'boolean'
  | 'integer'
  | 'integer or null'
  | 'number'
  | 'object'
  | 'object or null'
  /** ISO 8601, UTC. */
  | 'time'
  /** ISO 8601. */
  | 'duration'
  | 'URL';

/** A field of a request body. */
export interface RequestField {
  readonly value: unknown;
  readonly type: 'string' | 'integer' | 'object' | 'boolean' | 'array';
  /** The further rule for a string; refusals of an absent field use this name. */
  readonly format?:
    | 'UUID'
    | 'uri'
    | 'date-time'
    | 'address'
    | 'hostname'
    | 'string'
    | 'tcp:host:port, tls:host:port or udp:host:port';
  /** The name that refusals of a malformed value use, when it is not its format. */
  readonly rule?: string;
  /** A string that its format refuses; `none` when not given. */
  readonly malformed?: string;
  readonly isOptional?: true;
}

export interface ManagementRow {
  /** Heading of the table that it stands in. */
  readonly table: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  /** The path's parameters beside `frontdoorId`. */
  readonly at?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: Readonly<Record<string, RequestField>>;
  readonly status: number;
  /** Undefined: the answer is empty. */
  readonly answer?: AnswerShape;
  /** Fields that would be wrong here, though they exist elsewhere. */
  readonly absent?: readonly string[];
  /** Values of the answer that the request decides. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** What `Location` begins with. */
  readonly location?: string;
  readonly isOpen?: true;
  readonly page?: {
    readonly isCounted: boolean;
    /** Fields that the list is sorted by and its entries show. */
    readonly sort: readonly string[];
    /** All fields that the list is sorted by, where its entries do not show each of them. */
    readonly fields?: readonly string[];
  };
  readonly hasDuration?: true;
  /** The kind of thing that its last parameter names, as a 404 calls it. */
  readonly missing?: string;
  /** The parameter that must be a UUID, beside `frontdoorId`. */
  readonly uuid?: string;
  /** Its refusals follow another rule (RFC 6749). */
  readonly hasOwnRefusals?: true;
}

/** Paths below a frontdoor begin with it. */
export const BELOW_FRONTDOOR = '/frontdoor/{frontdoorId}';

export const frontdoorShape = {
  id: 'UUID',
  name: 'string',
  organizationId: 'UUID',
} as const satisfies AnswerShape;
export const contactShape = {
  lastSeenAt: 'string or null',
  remoteAddress: 'string or null',
  shareCount: 'integer',
} as const satisfies AnswerShape;
export const environmentEntryShape = {
  id: 'string',
  name: 'string',
  status: 'string',
} as const satisfies AnswerShape;
export const environmentShape = {
  ...environmentEntryShape,
  createdAt: 'time',
  ...contactShape,
} as const satisfies AnswerShape;
export const providerEntryShape = {
  id: 'UUID',
  name: 'string',
  type: 'string',
  enabled: 'boolean',
} as const satisfies AnswerShape;
export const providerShape = { ...providerEntryShape, data: 'object' } as const satisfies AnswerShape;
export const shareShape = {
  token: 'string',
  name: 'string or null',
  shareMode: 'string',
  backendMode: 'string',
  reserved: 'boolean',
  environmentId: 'string',
  target: 'URL',
  frontendIds: ['string'],
  frontendEndpoints: ['URL'],
  backendEndpoint: 'URL',
  authProviderIds: ['string'],
  policyId: 'string or null',
  ingress: 'string or null',
  ingressPort: 'integer or null',
  grants: ['string'],
  access: { admits: 'string', summary: 'string' },
  status: 'string',
  'failure?': { count: 'integer', lastError: 'string', nextRetry: 'time' },
  createdAt: 'time',
} as const satisfies AnswerShape;
const pageable: AnswerShape = { pageNumber: 'integer', pageSize: 'integer' };
export const plainPage = (entry: AnswerShape): AnswerShape => ({ content: [entry], pageable });
export const countedPage = (entry: AnswerShape): AnswerShape => ({
  content: [entry],
  pageable,
  totalElements: 'integer',
  totalPages: 'integer',
});
