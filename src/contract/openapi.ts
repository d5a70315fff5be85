/**
 * The API description as OpenAPI 3.1, generated from the operation table. It is served at `/openapi.json`, and
 * the reference pages are generated from it. Only the text at its head is written by hand.
 */
import type { TSchema } from 'typebox';
import { definedFields } from '#base';
import { exampleAnswerOf, exampleBodyOf } from './example-body.ts';
import { headerParametersOf } from './openapi-header-table.ts';
import { entityTagKindOf, takesIdempotencyKey, type EntityTagKind } from './conditional-request-table.ts';
import { operations } from './operation-table.ts';
import type { Operation, QueryParameter } from './operation.ts';
import { API_VERSION, descriptionText, groupDescriptions, securitySchemes } from './openapi-head.ts';
import { pathParametersOf } from './openapi-parameter-table.ts';
import { refusalsOf, type ApiRefusalRow } from './openapi-refusal-table.ts';
import { SchemaComponents, type Json } from './openapi-schemas.ts';
import { errorSchema } from './schemas/resource-schemas.ts';

export interface OpenApiAddresses {
  /** {base_url}, without a trailing slash. */
  readonly baseUrl: string;
  /** {auth_url}, without a trailing slash. */
  readonly authUrl: string;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly tags: readonly Json[];
  /** Operations by path, then by lower-case method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Readonly<Record<string, Json>>;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Json>> };
  /** Responses by status. */
  readonly responses: Readonly<Record<string, Json>>;
  readonly [name: string]: unknown;
}

export function openApiDocument({ baseUrl, authUrl }: OpenApiAddresses): OpenApiDocument {
  const schemas = new SchemaComponents();
  const responses = new Map<string, Json>();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const row of operations as readonly Operation[]) {
    (paths[row.path] ??= {})[row.method.toLowerCase()] = {
      operationId: row.id,
      tags: [row.group],
      summary: row.summary,
      description: scopeText(row),
      ...(row.at === 'auth' && authUrl !== baseUrl ? { servers: [{ url: authUrl }] } : {}),
      security: securityOf(row),
      ...parametersOf(row, schemas),
      ...requestBodyOf(row, schemas),
      responses: {
        ...successOf(row, schemas),
        ...Object.fromEntries(
          refusalsOf(row).map((refusal) => [refusal.status, refusalOf(refusal, responses, schemas)]),
        ),
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Frontdoor Management API',
      version: API_VERSION,
      summary: 'Publish private services without inbound ports',
      description: descriptionText(authUrl),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(operations.map(({ group }) => group))].map((name) => ({
      name,
      description: groupDescriptions[name],
    })),
    paths,
    components: {
      schemas: schemas.all(),
      responses: Object.fromEntries(responses),
      securitySchemes: securitySchemes(authUrl),
    },
  };
}

function scopeText({ scope, id }: Operation): string {
  if (scope !== undefined) return `Requires the scope \`${scope}\`.`;
  return id === 'issueToken'
    ? 'The client authenticates with its own credentials.'
    : 'Requires no credentials.';
}

function securityOf({ scope, id }: Operation): readonly Json[] {
  if (scope !== undefined) return [{ bearer: [scope] }, { apiAccount: [scope] }];
  return id === 'issueToken' ? [{}, { client: [] }] : [];
}

function parametersOf(operation: Operation, schemas: SchemaComponents): { parameters?: readonly Json[] } {
  const inPath = pathParametersOf(operation).map(({ name, summary, schema }) => ({
    name,
    in: 'path',
    required: true,
    description: summary,
    schema: schemas.use(schema as TSchema),
  }));
  const inQuery = operation.query.map((parameter) => ({
    name: parameter.name,
    in: 'query',
    required: parameter.isRequired,
    description: parameter.summary,
    ...(parameter.type === 'list' ? { style: 'form', explode: false } : {}),
    schema: parameter.values === undefined ? querySchema(parameter) : schemas.useValues(parameter.values),
  }));
  const inHeader = headerParametersOf(operation).map(({ name, summary, schema }) => ({
    name,
    in: 'header',
    required: false,
    description: summary,
    schema,
  }));
  const parameters = [...inPath, ...inQuery, ...inHeader];
  return parameters.length === 0 ? {} : { parameters };
}

const queryTypes: Readonly<Record<QueryParameter['type'], Json>> = {
  integer: { type: 'integer' },
  string: { type: 'string', minLength: 1, maxLength: 255 },
  UUID: { type: 'string', format: 'uuid' },
  'date-time': { type: 'string', format: 'date-time' },
  duration: { type: 'string', format: 'duration' },
  sort: { type: 'string' },
  list: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1, maxLength: 255 } },
};

function querySchema({ type, minimum, maximum, pattern, fields }: QueryParameter): Json {
  const sorting = fields && `^((${fields.join('|')})(,(asc|desc))?|-(${fields.join('|')}))$`;
  if (type === 'list') return definedFields({ ...queryTypes[type], maxItems: maximum });
  return definedFields({ ...queryTypes[type], minimum, maximum, pattern: sorting ?? pattern });
}

function requestBodyOf(
  { body, forms, isBodyOptional }: Operation,
  schemas: SchemaComponents,
): { requestBody?: { required: boolean; content: Readonly<Record<string, Json>> } } {
  const byMediaType = body === undefined || body === 'own' ? forms : { 'application/json': body };
  if (byMediaType === undefined) return {};
  const content = Object.entries(byMediaType).map(
    ([type, schema]) => [type, { schema: schemas.use(schema), example: exampleBodyOf(schema) }] as const,
  );
  return { requestBody: { required: isBodyOptional !== true, content: Object.fromEntries(content) } };
}

function successOf(operation: Operation, schemas: SchemaComponents): Readonly<Record<string, Json>> {
  const { answer, method } = operation;
  const tag = entityTagKindOf(operation);
  const forms = Object.entries(answer.otherForms ?? {});
  const content = {
    ...(answer.schema === undefined
      ? {}
      : {
          'application/json': {
            schema: schemas.use(answer.schema),
            example: exampleAnswerOf(answer.schema),
          },
        }),
    ...Object.fromEntries(
      forms.map(([type, text]) => [type, { schema: { ...formOf(type), description: text } }]),
    ),
  };
  const headers = {
    ...(answer.status === 201 && method === 'POST' ? { Location: headerOf('URL of the new resource') } : {}),
    ...(tag === undefined ? {} : { ETag: headerOf(TAG_WORDS[tag]) }),
    ...(takesIdempotencyKey(operation)
      ? { 'Idempotency-Replayed': headerOf('`true` if the response is that of an earlier request') }
      : {}),
  };
  const success = {
    description: SUCCESS_WORDS[answer.status] ?? 'Done',
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
  const unchanged =
    tag === 'whole' && method === 'GET'
      ? { 304: { description: 'The caller has the current representation already' } }
      : {};
  return { [answer.status]: success, ...unchanged };
}

/** The schema of a response that is not JSON. */
function formOf(mediaType: string): Json {
  return mediaType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

const TAG_WORDS: Readonly<Record<EntityTagKind, string>> = {
  whole: 'Tag of the whole response',
  stored: 'Tag of the stored state; it does not cover measured values and secrets that are shown once',
};

const SUCCESS_WORDS: Readonly<Record<number, string>> = {
  200: 'As asked',
  201: 'Created',
  204: 'Success without a body',
};

function headerOf(description: string): Json {
  return { description, schema: { type: 'string' } };
}

/** Returns a reference; the error response itself is among the components. */
function refusalOf(refusal: ApiRefusalRow, responses: Map<string, Json>, schemas: SchemaComponents): Json {
  const { name, errors, when, example, headers = {} } = refusal;
  if (!responses.has(name)) {
    const described = Object.entries(headers).map(([header, text]) => [header, headerOf(text)]);
    responses.set(name, {
      description: `\`${errors.join('`, `')}\`: ${when}`,
      ...(described.length === 0 ? {} : { headers: Object.fromEntries(described) as Json }),
      content: {
        'application/json': {
          schema: schemas.use(errorSchema),
          example: { error: errors[0], message: example },
        },
      },
    });
  }
  return { $ref: `#/components/responses/${name}` };
}
