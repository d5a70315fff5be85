/** Schemas of access to a share: its policy, questions about it and their explanations. */
import type { Static, TObject, TSchema } from 'typebox';
import { definedFields } from '#base';
import { Part, Type } from '#base/shapes';
import { HTTPS_REDIRECTS, type HttpsRedirect } from '#domain/access';
import { closed, ids, nullable, oneOf, readOnly, text, timestamp } from '../schema-parts.ts';

const longText = (maxLength: number, description?: string) =>
  Type.String(definedFields({ minLength: 1, maxLength, description }));
const list = <T extends TSchema>(items: T, maxItems: number, description: string) =>
  Type.Array(items, { maxItems, description });
const span = (description: string) => Type.String({ format: 'span', description });

/** An object or null, written as the other nullable fields of the API are. */
function objectOrNull<T extends TObject>(schema: T, description: string) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: ['object', 'null'], description });
}

const claimRule = closed({
  claim: longText(300, '`groups`, or the name of a claim; dots select fields of nested objects'),
  anyOf: Type.Array(longText(300), {
    minItems: 1,
    maxItems: 100,
    description:
      'The rule is satisfied if the claim equals one of these values, or is an array that contains one of them',
  }),
});

const basicUser = closed({
  name: Type.String({ format: 'basic-user' }),
  password: Type.String({
    minLength: 8,
    maxLength: 1_024,
    description: 'Never returned; sending ******** keeps the stored password of the user with this name',
  }),
});

const certificateAuthorities = () =>
  Type.Array(Type.String({ format: 'certificate-pem' }), {
    minItems: 1,
    maxItems: 20,
    description: 'Certificates of the trusted authorities, one PEM certificate each',
  });
const certificateNames = () =>
  list(
    Type.String({ format: 'certificate-name' }),
    200,
    "Accepted names: the leaf's common name, or one of its DNS names or email addresses; empty: every name",
  );

const rateLimit = closed({
  requests: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  per: span('From PT1S to P365D'),
});

const IDLE = 'The session ends when it has not been used for this time; PT8H by default';
const ABSOLUTE = 'The session ends at this age; P7D by default';

const policyFields = () => ({
  emails: list(
    Type.String({ format: 'email-pattern' }),
    1_000,
    'Verified email addresses that have access; empty: every address',
  ),
  claims: list(claimRule, 50, 'Rules that a session or token must all satisfy'),
  basicAuth: list(basicUser, 50, 'Users that may authenticate with HTTP Basic'),
  ipAllow: list(
    Type.String({ format: 'ip-network' }),
    1_000,
    'Networks that clients are allowed from; empty: every network',
  ),
  ipDeny: list(
    Type.String({ format: 'ip-network' }),
    1_000,
    'Networks that clients are refused from, even if `ipAllow` contains them',
  ),
  publicPaths: list(
    Type.String({ format: 'path-pattern' }),
    200,
    'Paths that are served without authentication',
  ),
  expiresAt: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'All requests are refused after this time; null: access does not expire',
  }),
  rateLimit: objectOrNull(
    rateLimit,
    'Request limit per caller (the identity if there is one, otherwise the client address); null: no limit',
  ),
  allowedOrigins: list(
    Type.String({ format: 'web-origin' }),
    50,
    "Other origins whose pages may send state-changing requests with a person's session; empty: only the share's own origin",
  ),
  allowPreflights: Type.Boolean({
    description:
      'Whether unauthenticated CORS preflight requests are forwarded to the service; false by default',
  }),
  responseTimeoutSeconds: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 3_600,
    description:
      "Time limit for the first byte of the service's response; null: the gateway's setting applies",
  }),
  contact: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'contact',
    description: 'Contact that is shown to people who are refused; null: none',
  }),
  httpsRedirect: Type.Unsafe<HttpsRedirect>({
    type: 'string',
    enum: [...HTTPS_REDIRECTS],
    description:
      'Whether requests over plain HTTP are redirected to HTTPS; `auto`, the default: where the gateway has a certificate for the name',
  }),
});

const corsOrigins = () =>
  Type.Array(Type.String({ format: 'cors-origin' }), {
    minItems: 1,
    maxItems: 50,
    description: 'Origins whose pages may read responses, or * for every page (without credentials)',
  });
const methodNames = () => list(Type.String({ format: 'http-token' }), 30, 'Methods that these pages may use');
const headerNames = () =>
  list(Type.String({ format: 'http-token' }), 50, 'Headers that these pages may send');
const exposedNames = () =>
  list(Type.String({ format: 'http-token' }), 50, 'Headers of responses that these pages may read');
const corsCredentials = () =>
  Type.Boolean({
    description:
      "Whether the requests may carry cookies and sign-ins; these pages may then also send state-changing requests with a person's session",
  });
const corsAge = () =>
  Type.Integer({
    minimum: 0,
    maximum: 86_400,
    description: 'How long browsers keep the answer to a preflight',
  });
const hstsAge = () =>
  Type.Integer({
    minimum: 0,
    maximum: 63_072_000,
    description: 'How long browsers use only HTTPS; 0 ends an earlier one',
  });
const hstsSubdomains = () =>
  Type.Boolean({
    description: "Whether it covers names below the share's; refused if other shares have such names",
  });
const hstsPreload = () =>
  Type.Boolean({ description: 'Consent to preload lists of browsers, which is hard to undo' });
const CORS = 'Pages of other origins that may read responses; null: only the service sets such headers';
const HSTS = 'Strict-Transport-Security of responses over HTTPS; null: only the service sets such headers';

/** Body of PUT. An absent field gets its default, which admits every caller that the auth providers admit. */
export const sharePolicyReplacementSchema = closed({
  ...Part.optional(policyFields()),
  clientCertificate: Type.Optional(
    objectOrNull(
      closed({ authorities: certificateAuthorities(), names: Type.Optional(certificateNames()) }),
      'The certificate that every client must present; null: none',
    ),
  ),
  session: Type.Optional(
    closed({ idle: Type.Optional(span(IDLE)), absolute: Type.Optional(span(ABSOLUTE)) }),
  ),
  cors: Type.Optional(
    objectOrNull(
      closed({
        origins: corsOrigins(),
        methods: Type.Optional(methodNames()),
        headers: Type.Optional(headerNames()),
        exposedHeaders: Type.Optional(exposedNames()),
        credentials: Type.Optional(corsCredentials()),
        maxAgeSeconds: Type.Optional(corsAge()),
      }),
      CORS,
    ),
  ),
  hsts: Type.Optional(
    objectOrNull(
      closed({
        maxAgeSeconds: hstsAge(),
        includeSubdomains: Type.Optional(hstsSubdomains()),
        preload: Type.Optional(hstsPreload()),
      }),
      HSTS,
    ),
  ),
  warnings: readOnly(),
});
export type SharePolicyBody = Static<typeof sharePolicyReplacementSchema>;

const storedPolicySchema = closed({
  ...policyFields(),
  clientCertificate: objectOrNull(
    closed({ authorities: certificateAuthorities(), names: certificateNames() }),
    'The certificate that every client must present; null: none',
  ),
  session: closed({ idle: span(IDLE), absolute: span(ABSOLUTE) }),
  cors: objectOrNull(
    closed({
      origins: corsOrigins(),
      methods: methodNames(),
      headers: headerNames(),
      exposedHeaders: exposedNames(),
      credentials: corsCredentials(),
      maxAgeSeconds: corsAge(),
    }),
    CORS,
  ),
  hsts: objectOrNull(
    closed({ maxAgeSeconds: hstsAge(), includeSubdomains: hstsSubdomains(), preload: hstsPreload() }),
    HSTS,
  ),
});
export type SharePolicy = Static<typeof storedPolicySchema>;

const policyWarningSchema = closed({
  field: Type.String({ description: 'The field of the policy' }),
  message: Type.String({
    description: 'Why the field has no effect or gives nobody access, and how to fix it',
  }),
});

export const sharePolicySchema = closed({
  ...storedPolicySchema.properties,
  warnings: Type.Array(policyWarningSchema, {
    description: 'Fields that currently have no effect, or give nobody access',
  }),
});
export type SharePolicyAnswer = Static<typeof sharePolicySchema>;

export const policyWarningListSchema = closed({
  warnings: Type.Array(
    closed({ token: Type.String({ description: 'The share' }), ...policyWarningSchema.properties }),
    { description: 'At most 100' },
  ),
  hasMore: Type.Boolean({ description: 'Whether there are more warnings than listed' }),
});

const draftProviders = (description: string) => Type.Optional(ids(100, description));

/** A policy and auth providers to compare with those of the share. */
export const policyDraftSchema = closed({
  ...sharePolicyReplacementSchema.properties,
  authProviderIds: draftProviders(
    'Auth providers to compare instead of those of the share. If no policy field is given, the current policy applies',
  ),
});
export type PolicyDraftBody = Static<typeof policyDraftSchema>;

/** A request to explain; it is not sent. Absent fields have the values of a browser without any credential. */
export const accessQuestionSchema = closed({
  host: Type.Optional(longText(253, "One of the share's host names; the first one by default")),
  method: Type.Optional(longText(32, 'GET by default')),
  origin: Type.Optional(
    Type.String({
      format: 'web-origin',
      description: "Origin of the page that makes the request in a browser; the share's own by default",
    }),
  ),
  preflight: Type.Optional(
    Type.Boolean({
      description: 'Whether the request is a CORS preflight, of method OPTIONS; false by default',
    }),
  ),
  path: Type.Optional(
    Type.String({
      title: 'path that begins with /',
      pattern: '^/',
      maxLength: 16_384,
      description: 'Path with its query; / by default',
    }),
  ),
  address: Type.Optional(
    Type.String({
      format: 'ip-address',
      description: 'Address of the client; rules on addresses are skipped if it is absent',
    }),
  ),
  secure: Type.Optional(Type.Boolean({ description: 'Whether the request uses TLS; true by default' })),
  at: Type.Optional(Type.String({ format: 'date-time', description: 'Time of the request; now by default' })),
  providerId: Type.Optional(
    Type.String({ format: 'uuid', description: 'The auth provider that authenticates the caller' }),
  ),
  email: Type.Optional(longText(320, 'Email address in the session or token')),
  emailVerified: Type.Optional(
    Type.Boolean({ description: 'Whether the provider verified the email address; true by default' }),
  ),
  groups: Type.Optional(Type.Array(text(), { maxItems: 1_000 })),
  claims: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description: 'Claims in the session or token',
    }),
  ),
  keyName: Type.Optional(longText(300, 'Name of the API key that the request carries')),
  basicUser: Type.Optional(longText(300, 'Name of the HTTP Basic user')),
  certificateName: Type.Optional(
    longText(255, 'A name in a client certificate that a trusted authority issued'),
  ),
  policy: Type.Optional(sharePolicyReplacementSchema),
  authProviderIds: draftProviders('Auth providers to explain instead of those of the share'),
});
export type AccessQuestion = Static<typeof accessQuestionSchema>;

export const accessExplanationSchema = closed({
  decision: oneOf('allow', 'login', 'unauthenticated', 'refuse', 'unavailable'),
  status: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: "Status of the gateway's response; null: the request is forwarded to the service",
  }),
  reason: Type.String({ description: 'Code of the reason, as in logs and failure records' }),
  steps: Type.Array(
    closed({
      rule: Type.String(),
      outcome: oneOf('passed', 'decided', 'skipped'),
      detail: Type.String(),
    }),
    { description: 'The rules in the order of their evaluation' },
  ),
});
export type AccessExplanationAnswer = Static<typeof accessExplanationSchema>;

const briefDecision = () =>
  closed({
    decision: oneOf('allow', 'login', 'unauthenticated', 'refuse', 'unavailable'),
    status: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: "Status of the gateway's response; null: the request is forwarded to the service",
    }),
    reason: Type.String({ description: 'Code of the reason, as in logs and failure records' }),
  });

export const policyComparisonSchema = closed({
  compared: Type.Integer({
    description: 'Number of the latest recorded requests and failures that were compared, at most 100',
  }),
  unknown: Type.Integer({
    description:
      'Number of requests that could not be compared, because groups, claims or certificates are not recorded',
  }),
  since: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'Time of the oldest compared request; null: there are none',
  }),
  different: Type.Array(
    closed({
      id: Type.String({ description: 'ID of the recording, or the error ID' }),
      at: timestamp(),
      method: Type.String(),
      host: Type.String(),
      path: Type.String({ description: 'Path without its query' }),
      client: Type.String({ description: 'Address of the client' }),
      identity: nullable<string>({
        type: 'string',
        description: 'Identity of the caller, if known',
      }),
      before: briefDecision(),
      after: briefDecision(),
    }),
    { description: 'Requests that are decided differently, newest first' },
  ),
});
export type PolicyComparisonAnswer = Static<typeof policyComparisonSchema>;
